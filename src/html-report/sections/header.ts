import { chainOf } from '../../core/model/chains.ts'
import { endOfExport, type Manifest } from '../../core/model/manifest.ts'
import { decimalsLines, missingRowsWarning, unknownLines } from '../../terminal/format.ts'
import { type DataCollection, missingBlocks } from '../data-collection.ts'
import { formatCount, groupDigits, type Html, html } from '../html.ts'

/** An export and the runs that collected it. */
type HeaderData = { manifest: Manifest; data: DataCollection }

/** The header of an export: title, wallets, chain, block and time range, and whether it is complete. */
export function headerHtml(
  { manifest, data }: HeaderData,
  { title, timeRange }: { title: string; timeRange: string },
): Html {
  const { job, blocks } = manifest
  const name = chainOf(job.chain)?.name
  const subject = blocks === undefined ? formatCount(manifest.coverage.length, 'wallet') : 'Whole blocks'
  const { from, to } = rangeOf(manifest)
  return html`<header>
<h1><bdi>${title}</bdi></h1>
<p class="subtitle">${subject} on ${name === undefined ? '' : `${name}, `}chain ${job.chain} · blocks ${groupDigits(from)} to ${groupDigits(to - 1)} · ${timeRange}</p>
${completenessBanner({ manifest, data })}${[...missingRowsWarning(manifest), ...unknownLines(manifest), ...decimalsLines(manifest)].map((line) => html`\n<p class="stamp bad">! ${line}</p>`)}
</header>`
}

/** The block range that was read for any wallet; `to` is exclusive. */
function rangeOf(manifest: Manifest): { from: number; to: number } {
  const { coverage, blocks } = manifest
  const ranges = blocks === undefined ? coverage : [blocks]
  return {
    from: ranges.reduce((min, { fromBlock }) => Math.min(min, fromBlock), Number.POSITIVE_INFINITY),
    to: blocks?.toBlock ?? endOfExport(manifest),
  }
}

/** One line on completeness; empty if refused wallets are the only gap, because the header lists them separately. */
function completenessBanner({ manifest, data }: HeaderData): Html {
  const missing = missingBlocks(manifest)
  const unit = manifest.blocks === undefined ? 'page' : 'block'
  if (missingRowsWarning(manifest).length > 0 && manifest.rejects === 0 && missing === 0) return html``
  if (manifest.rejects === 0 && missing === 0)
    return html`<p class="stamp good">✓ Complete: every ${unit} was read, no record was rejected</p>`
  const rejects = manifest.rejects === 0 ? '' : `${formatCount(manifest.rejects, 'record')} rejected`
  const gaps = missing === 0 ? '' : `${formatCount(missing, 'block')} missing from the service`
  const reason = data.rejects[0]?.[0]
  return html`<p class="stamp bad">! ${[gaps, rejects].filter((text) => text !== '').join(' · ')}${reason === undefined ? '' : `: ${reason}`}</p>`
}
