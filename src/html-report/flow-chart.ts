import { largest } from '../core/platform/extremes.ts'
import { svgHtml } from './charts.ts'
import { groupDigits, type Html, html } from './html.ts'

/** Number of transfers between a counterparty (its name, and its address as `key`) and a wallet. */
export type Flow = { counterparty: string; key: string; wallet: string; count: number }

const SIZE = { width: 960, height: 420 }
const NODE_WIDTH = 12
/** x positions of the three columns of nodes. */
const COLUMNS = [190, 474, 758] as const
const GAP = 4

type Node = {
  name: string
  x: number
  y: number
  height: number
  count: number
  used: { left: number; right: number }
}

/**
 * A Sankey diagram with three columns: senders, wallets, receivers. A counterparty that both sends and receives has a node
 * in both outer columns, so that the graph has no cycles.
 */
export function flowChart(incoming: readonly Flow[], outgoing: readonly Flow[], description: string): Html {
  const senders = columnOf(
    incoming,
    ({ key }) => key,
    ({ counterparty }) => counterparty,
  )
  const receivers = columnOf(
    outgoing,
    ({ key }) => key,
    ({ counterparty }) => counterparty,
  )
  const wallets = walletsOf(incoming, outgoing)
  const columns = [senders, wallets, receivers].map((column, at) => layOut(column, COLUMNS[at] ?? 0))
  const [left, middle, right] = columns as [Map<string, Node>, Map<string, Node>, Map<string, Node>]
  const ribbons = [
    ...incoming.map((flow) => ribbon(left.get(flow.key), middle.get(flow.wallet), flow)),
    ...outgoing.map((flow) => ribbon(middle.get(flow.wallet), right.get(flow.key), flow)),
  ]
  const nodes = columns.flatMap((column, at) => [...column.values()].map((node) => nodeHtml(node, at === 2)))
  return svgHtml(SIZE, description, html`${ribbons}${nodes}`)
}

type Column = Map<string, { name: string; count: number }>

function columnOf(
  flows: readonly Flow[],
  keyOf: (flow: Flow) => string,
  nameOf: (flow: Flow) => string,
): Column {
  const column: Column = new Map()
  for (const flow of flows) {
    const key = keyOf(flow)
    column.set(key, { name: nameOf(flow), count: (column.get(key)?.count ?? 0) + flow.count })
  }
  return column
}

/** The height of a wallet follows the larger of its received and sent transfers. */
function walletsOf(incoming: readonly Flow[], outgoing: readonly Flow[]): Column {
  const columns = [incoming, outgoing].map((flows) =>
    columnOf(
      flows,
      ({ wallet }) => wallet,
      ({ wallet }) => wallet,
    ),
  )
  const names = new Set(columns.flatMap((column) => [...column.keys()]))
  return new Map(
    [...names].map((name) => [
      name,
      { name, count: largest(columns.map((column) => column.get(name)?.count ?? 0)) },
    ]),
  )
}

function layOut(column: Column, x: number): Map<string, Node> {
  const total = [...column.values()].reduce((sum, { count }) => sum + count, 0)
  const availableHeight = SIZE.height - GAP * Math.max(0, column.size - 1)
  const sorted = [...column].sort((a, b) => b[1].count - a[1].count || (a[0] < b[0] ? -1 : 1))
  let y = 0
  return new Map(
    sorted.map(([key, { name, count }]) => {
      const height = (count / Math.max(1, total)) * availableHeight
      const node: Node = { name, x, y, height, count, used: { left: 0, right: 0 } }
      y += height + GAP
      return [key, node]
    }),
  )
}

const round = (n: number) => Math.round(n * 10) / 10

function ribbon(from: Node | undefined, to: Node | undefined, { count, counterparty, wallet }: Flow): Html {
  if (from === undefined || to === undefined) return html``
  const [fromHeight, toHeight] = [(count / from.count) * from.height, (count / to.count) * to.height]
  const [y0, y1] = [from.y + from.used.right, to.y + to.used.left]
  from.used.right += fromHeight
  to.used.left += toHeight
  const [x0, x1] = [from.x + NODE_WIDTH, to.x]
  const middle = round((x0 + x1) / 2)
  const curve = (ya: number, xb: number, yb: number) =>
    `C${middle} ${round(ya)} ${middle} ${round(yb)} ${xb} ${round(yb)}`
  const path = `M${x0} ${round(y0)}${curve(y0, x1, y1)}V${round(y1 + toHeight)}${curve(y1 + toHeight, x0, y0 + fromHeight)}Z`
  return html`<path class="ribbon" d="${path}"><title>${counterparty}, ${wallet}: ${groupDigits(count)}</title></path>`
}

function nodeHtml({ name, x, y, height, count }: Node, isLast: boolean): Html {
  const label = `${name} ${groupDigits(count)}`
  const text =
    height < 11
      ? html``
      : html`<text x="${isLast ? x + NODE_WIDTH + 6 : x - 6}" y="${round(y + height / 2 + 4)}"${isLast ? '' : html` class="end"`}>${label}</text>`
  return html`<rect class="node" x="${x}" y="${round(y)}" width="${NODE_WIDTH}" height="${round(Math.max(1, height))}"><title>${label}</title></rect>${text}`
}
