import { isNft } from '../../core/model/asset.ts'
import { smallest } from '../../core/platform/extremes.ts'
import type { StoredReconciliation } from '../../read/read-reconciliation.ts'
import { gapsOf } from '../export-facts.ts'
import { isCounted } from '../holdings.ts'
import { type Html, html } from '../html.ts'
import { partyHtml, type View } from '../view.ts'
import { assetId } from '../year-sums.ts'

/** Wallets that the head names. */
const MAX_WALLETS = 40

/** Title, period, wallets, and whether the export is complete and was reconciled. */
export function headSection(view: View): Html {
  const { title, text, exports } = view
  const { messages } = text
  const wallets = new Map<string, string>()
  for (const { chain, manifest } of exports)
    for (const { address } of manifest.coverage) if (!wallets.has(address)) wallets.set(address, chain)
  const chips = [...wallets]
    .slice(0, MAX_WALLETS)
    .map(([address, chain]) => html`<li>${partyHtml(view, chain, address)}</li>`)
  const others = wallets.size - chips.length
  const more = others === 0 ? '' : html`<li>${text.count(others, 'others')}</li>`
  const { isGood, title: state, lines } = sealOf(view)
  return html`<header>
<p class="eyebrow">${messages.report}</p>
<h1><bdi>${title}</bdi></h1>
<p class="period">${periodText(view)}</p>
${chips.length === 0 ? '' : html`<ul class="chips" aria-label="${messages.wallets}">${chips}${more}</ul>`}
<p class="seal ${isGood ? 'good' : 'bad'}"><strong>${isGood ? '✓' : '!'} ${state}</strong> <span>${lines.join(' · ')}</span></p>
</header>`
}

function periodText({ text, portfolio, exports }: View): string {
  const times = exports.flatMap(({ overview }) => {
    const range = overview?.transactions?.timeRange
    return range === undefined ? [] : [range.first, range.last].map((time) => new Date(time).toISOString())
  })
  if (portfolio !== undefined && portfolio.sums.first !== '')
    times.push(portfolio.sums.first, portfolio.sums.last)
  const [from, to] = [times.sort()[0], times.at(-1)]
  if (from === undefined || to === undefined) return text.messages.noPeriod
  return text.plain(text.messages.period, { from: text.day(from), to: text.day(to) })
}

type Seal = { isGood: boolean; title: string; lines: readonly string[] }

/** The seal: complete and reconciled, or what is missing. */
export function sealOf(view: View): Seal {
  const { text, exports } = view
  const { seal } = text.messages
  const gaps = gapsOf(exports)
  const missing = [
    ...(gaps.wallets === 0 ? [] : [text.count(gaps.wallets, 'missing')]),
    ...(gaps.missingBlocks === 0 ? [] : [text.count(gaps.missingBlocks, 'blocks')]),
    ...(gaps.rejects === 0 ? [] : [text.count(gaps.rejects, 'records')]),
  ]
  const { isReconciled, lines } = reconciliationOf(view)
  return {
    isGood: missing.length === 0 && isReconciled !== false,
    title: missing.length === 0 ? seal.complete : seal.incomplete,
    lines: [...(missing.length === 0 ? [seal.everything] : missing), ...lines],
  }
}

/** The verdicts of `reconcile` on all exports with a ledger together; `isReconciled` is undefined without verdicts. */
function reconciliationOf(view: View): { isReconciled: boolean | undefined; lines: readonly string[] } {
  const { text, exports } = view
  const { seal } = text.messages
  const ledgers = exports.filter(({ manifest }) => manifest.tables.ledger !== undefined)
  const verdicts = ledgers.flatMap(({ data }) => data.reconciliation ?? [])
  const [first] = verdicts
  if (ledgers.length === 0) return { isReconciled: undefined, lines: [] }
  if (first === undefined || verdicts.length < ledgers.length)
    return { isReconciled: undefined, lines: [seal.notReconciled] }
  const sum = (count: (verdict: StoredReconciliation) => number) =>
    verdicts.reduce((all, one) => all + count(one), 0)
  const [done, selected, exported] = [
    sum(({ wallets }) => wallets.nativeReconciled),
    sum(({ wallets }) => wallets.selected),
    sum(({ wallets }) => wallets.exported),
  ]
  const isCurrent = verdicts.every((verdict) => verdict.isCurrent)
  const hasSameFiles = verdicts.every((verdict) => verdict.hasSameFiles)
  const accepted = sum(({ balances }) =>
    Object.values(balances).reduce((all, kind) => all + kind.accepted, 0),
  )
  const different = countDifferences(view)
  const [block, time] = [
    smallest(verdicts.map((one) => one.block)),
    verdicts.map((one) => one.time).sort()[0] ?? '',
  ]
  const wallets = { done: text.number(done), all: text.number(selected) }
  return {
    isReconciled: isCurrent && hasSameFiles && done === selected,
    lines: [
      text.plain(seal.reconciled, { ...wallets, block: text.number(block), time: text.day(time) }),
      ...(selected === exported
        ? []
        : [text.plain(seal.selected, { n: text.number(selected), all: text.number(exported) })]),
      ...(different === 0 ? [] : [text.count(different, 'tokens')]),
      ...(accepted === 0 ? [] : [text.plain(seal.accepted, { n: text.number(accepted) })]),
      ...(isCurrent ? [] : [seal.outdated]),
      ...(hasSameFiles ? [] : [seal.otherFiles]),
    ],
  }
}

/** Token balances that differ, apart from those of tokens that are in no total: their lists say why. */
function countDifferences({ exports, portfolio }: View): number {
  let count = 0
  for (const { chain, data } of exports) {
    if (data.reconciliation === undefined) continue
    const { erc20, erc721, erc1155 } = data.reconciliation.balances
    const explained = data.reconciliation.differences.filter(
      ({ asset_type: type, asset_address: address }) => {
        const holding = portfolio?.holdings.assets.get(assetId(chain, type, address))
        return holding !== undefined && address !== null && !isNft(holding) && !isCounted(holding)
      },
    )
    count += erc20.different + erc721.different + erc1155.different - explained.length
  }
  return Math.max(0, count)
}
