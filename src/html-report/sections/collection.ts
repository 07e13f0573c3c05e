import { COIN_DECIMALS } from '../../core/model/asset.ts'
import { wrappedCoinOf } from '../../core/model/chains.ts'
import { decimalsLines, missingRowsWarning, unknownLines } from '../../terminal/format.ts'
import { missingBlocks } from '../data-collection.ts'
import { type ExportFacts, rangeOf } from '../export-facts.ts'
import { type Html, html } from '../html.ts'
import { amountCell, countCell, longCell, tableHtml, textCell } from '../tables.ts'
import { chainName, partyHtml, type View } from '../view.ts'
import { sealOf } from './head.ts'

/** How each export was collected: its runs, what was rejected, and what is missing. */
export function collectionSection(view: View): Html {
  const { messages } = view.text
  return html`<section id="collection"><h2>${messages.collection.title}</h2>
<p>${sealOf(view).lines.join(' · ')}</p>
${view.exports.map((one) => exportHtml(view, one))}
</section>`
}

function exportHtml({ text }: View, { chain, manifest, data }: ExportFacts): Html {
  const m = text.messages.collection
  const { name } = manifest.job
  const { from, to } = rangeOf(manifest)
  const rows = data.runs.map((run) => [
    textCell(run.startedAt.slice(0, 19).replace('T', ' ')),
    textCell(run.state),
    ...[run.seconds, run.requests, run.rateLimited, run.retries].map((count) => countCell(count, text)),
    ...[Math.round(run.bytes / 100_000) / 10, run.rejects, run.missingBlocks].map((count) =>
      countCell(count, text),
    ),
  ])
  const warnings = [...missingRowsWarning(manifest), ...unknownLines(manifest), ...decimalsLines(manifest)]
  const place = { name, chain: chainName(chain), from: text.number(from), to: text.number(to - 1) }
  return html`<h3>${text.plain(m.export, place)}</h3>
${warnings.map((line) => html`<p class="bad">! ${line}</p>\n`)}
${missingText(manifest.blocks?.missing ?? [], text)}
${rows.length === 0 ? html`<p>${m.noRuns}</p>` : tableHtml({ caption: text.plain(m.runs, { name }), headers: m.columns, rows }, text)}
${data.olderRuns === 0 ? '' : html`<p class="note">${text.count(data.olderRuns, 'runs')}.</p>`}
${data.rejects.length === 0 ? '' : tableHtml({ caption: text.plain(m.rejects, { name }), headers: [m.reason, m.records], rows: data.rejects.map(([reason, count]) => [longCell(reason), countCell(count, text)]) }, text)}`
}

/** Ranges of blocks that a sentence lists. */
const MAX_RANGES = 20

function missingText(missing: readonly { fromBlock: number; toBlock: number }[], text: View['text']): Html {
  if (missing.length === 0) return html``
  const ranges = missing
    .slice(0, MAX_RANGES)
    .map(({ fromBlock, toBlock }) =>
      toBlock - fromBlock === 1
        ? text.number(fromBlock)
        : `${text.number(fromBlock)}–${text.number(toBlock - 1)}`,
    )
  const more = missing.length > MAX_RANGES ? ' …' : ''
  return html`<p>${text.plain(text.messages.collection.missing, { ranges: `${ranges.join(', ')}${more}` })}</p>`
}

/** The exports without a ledger: their tables, and the senders with the most transactions. */
export function overviewSection(view: View): Html {
  const overviews = view.exports.filter(({ overview }) => overview !== undefined)
  if (overviews.length === 0) return html``
  const m = view.text.messages.overview
  return html`<section id="overview"><h2>${m.title}</h2>
<p class="note">${m.noLedger}</p>
${overviews.map((one) => overviewHtml(view, one))}
</section>`
}

function overviewHtml(view: View, { chain, manifest, overview }: ExportFacts): Html {
  const { text } = view
  const m = text.messages.overview
  const { name, nativeSymbol } = manifest.job
  const coin = nativeSymbol ?? ''
  const tables = Object.entries(manifest.tables).map(([table, { rows, files }]) => [
    textCell(table),
    ...[rows, files.length, files.reduce((sum, { bytes }) => sum + bytes, 0)].map((count) =>
      countCell(count, text),
    ),
  ])
  const all = overview?.transactions
  const senders = (all?.busiest ?? []).map(({ address, count, failed, fees }) => [
    { html: partyHtml(view, chain, address), exact: address },
    countCell(count, text),
    countCell(failed, text),
    amountCell(fees, COIN_DECIMALS, text),
  ])
  const { blocks } = manifest
  const read = blocks === undefined ? 0 : blocks.toBlock - blocks.fromBlock - missingBlocks(manifest)
  const totals = all && {
    transactions: text.count(all.count, 'transactions'),
    failed: text.count(all.failed, 'failed'),
    fees: text.amount(all.fees, COIN_DECIMALS),
    coin,
  }
  const headers = m.senderColumns.map((header) => text.plain(header, { coin }))
  return html`${blocks === undefined ? '' : html`<p>${text.plain(m.blocks, { read: text.number(read), all: text.number(blocks.toBlock - blocks.fromBlock) })}</p>`}
${all === undefined || totals === undefined ? '' : html`<p>${all.count === 0 ? m.empty : text.fill(m.sentence, totals)}</p>`}
${tableHtml({ caption: text.plain(m.tables, { name }), headers: m.columns, rows: tables }, text)}
${senders.length === 0 ? '' : tableHtml({ caption: text.plain(m.senders, { name }), headers, rows: senders, count: all?.senders ?? 0 }, text)}`
}

/** What the figures do not say. */
export function limitsSection({ text, portfolio, exports }: View): Html {
  const m = text.messages.limits
  const hasWraps = exports.every(
    ({ manifest: { job } }) => job.wraps === 'ledger' && wrappedCoinOf(job) !== undefined,
  )
  const ledger =
    portfolio === undefined
      ? [m.missing]
      : [
          m.rounded,
          m.opening,
          ...(hasWraps ? [] : [m.wraps]),
          portfolio.prices === undefined ? m.noPrices : m.prices,
        ]
  return html`<section id="limits"><h2>${m.title}</h2>
<ul>${[...ledger, m.tokens, m.purpose].map((limit) => html`<li>${limit}</li>\n`)}</ul></section>`
}
