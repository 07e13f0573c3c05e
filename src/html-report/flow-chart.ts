import { sankey, sankeyLinkHorizontal } from 'd3-sankey'
import { largest } from '../core/platform/extremes.ts'
import { round, svgHtml } from './charts.ts'
import { type Html, html } from './html.ts'

/** A counterparty or a wallet: its address and the name that is shown. */
type Party = { address: string; name: string }
/** Number of transfers between a counterparty and a wallet. */
export type Flow = { counterparty: Party; wallet: Party; count: number }

/** The columns of the chart, from left to right. */
const COLUMNS = ['sender', 'wallet', 'receiver'] as const
type Column = (typeof COLUMNS)[number]

type FlowNode = { id: string; name: string; column: Column }
type FlowLink = { source: string; target: string; value: number; title: string }

const WIDTH = 880
const [MAX_HEIGHT, HEIGHT_PER_NODE] = [520, 48]
/** Room for the names of senders and receivers beside the outer columns. */
const NAMES_WIDTH = 200
/** The gap is as high as a name, so that the names of low nodes do not overlap. */
const [NODE_WIDTH, NODE_GAP] = [12, 13]

/**
 * A Sankey diagram with three columns: senders, wallets, receivers. A counterparty that both sends and receives has a node
 * in both outer columns, so that the graph has no cycles.
 */
export function flowChart(incoming: readonly Flow[], outgoing: readonly Flow[], description: string): Html {
  const nodes = new Map<string, FlowNode>()
  const nodeOf = (column: Column, { address, name }: Party): string => {
    const id = `${column} ${address}`
    nodes.set(id, { id, name, column })
    return id
  }
  const titleOf = ({ counterparty, wallet, count }: Flow) => `${counterparty.name}, ${wallet.name}: ${count}`
  const links: FlowLink[] = [
    ...incoming.map((flow) => ({
      source: nodeOf('sender', flow.counterparty),
      target: nodeOf('wallet', flow.wallet),
      value: flow.count,
      title: titleOf(flow),
    })),
    ...outgoing.map((flow) => ({
      source: nodeOf('wallet', flow.wallet),
      target: nodeOf('receiver', flow.counterparty),
      value: flow.count,
      title: titleOf(flow),
    })),
  ]
  const graph = layOut([...nodes.values()], links)
  const path = sankeyLinkHorizontal<FlowNode, FlowLink>()
  const ribbons = graph.links.map(
    (link) =>
      html`<path class="ribbon" d="${path(link) ?? ''}" stroke-width="${round(Math.max(1, link.width ?? 1))}"><title>${link.title}</title></path>`,
  )
  const size = { width: WIDTH, height: heightOf(graph.nodes) }
  return svgHtml(size, description, html`${ribbons}${graph.nodes.map(nodeHtml)}`)
}

/** The height of the chart, so that single ribbons are not as wide as the chart is high. */
function heightOf(nodes: readonly FlowNode[]): number {
  const counts = COLUMNS.map((name) => nodes.filter(({ column }) => column === name).length)
  return Math.min(MAX_HEIGHT, HEIGHT_PER_NODE * largest(counts, 1))
}

function layOut(nodes: FlowNode[], links: FlowLink[]) {
  // d3-sankey counts only the columns that have nodes.
  const columns = COLUMNS.filter((name) => nodes.some(({ column }) => column === name))
  return sankey<FlowNode, FlowLink>()
    .nodeId(({ id }) => id)
    .nodeAlign(({ column }) => columns.indexOf(column))
    .nodeSort((a, b) => (b.value ?? 0) - (a.value ?? 0))
    .nodeWidth(NODE_WIDTH)
    .nodePadding(NODE_GAP)
    .extent([
      [NAMES_WIDTH, NODE_GAP / 2],
      [WIDTH - NAMES_WIDTH, heightOf(nodes) - NODE_GAP / 2],
    ])({ nodes, links })
}

type LaidOutNode = ReturnType<typeof layOut>['nodes'][number]

function nodeHtml({ name, column, value = 0, x0 = 0, x1 = 0, y0 = 0, y1 = 0 }: LaidOutNode): Html {
  const label = `${name} ${value}`
  const isLast = column === 'receiver'
  const text = html`<text class="name" x="${round(isLast ? x1 + 6 : x0 - 6)}" y="${round((y0 + y1) / 2 + 4)}"${isLast ? '' : html` text-anchor="end"`}>${label}</text>`
  return html`<rect class="node" x="${round(x0)}" y="${round(y0)}" width="${NODE_WIDTH}" height="${round(Math.max(1, y1 - y0))}"><title>${label}</title></rect>${text}`
}
