import { chainOf } from '../../core/model/chains.ts'
import type { Manifest } from '../../core/model/manifest.ts'
import { refusedLines, unknownLines } from '../../terminal/format.ts'
import { missingBlocks, type Reading } from '../data-collection.ts'
import { counted, grouped, type Html, html } from '../html.ts'

/** An export, and how it was read. */
type Read = { manifest: Manifest; reading: Reading }

/** Whose, where, when, and whether complete. */
export function headerHtml(
  { manifest, reading }: Read,
  { title, span }: { title: string; span: string },
): Html {
  const { job, blocks } = manifest
  const name = chainOf(job.chain)?.name
  const what = blocks === undefined ? counted(manifest.coverage.length, 'wallet') : 'Whole blocks'
  const { from, to } = rangeOf(manifest)
  return html`<header>
<h1><bdi>${title}</bdi></h1>
<p class="facts">${what} on ${name === undefined ? '' : `${name}, `}chain ${job.chain} · blocks ${grouped(from)} to ${grouped(to - 1)} · ${span}</p>
${stampOf({ manifest, reading })}${[...refusedLines(manifest), ...unknownLines(manifest)].map((line) => html`\n<p class="stamp bad">! ${line}</p>`)}
</header>`
}

/** Blocks from the first to the last that some wallet was read in; `to` is exclusive. */
function rangeOf({ coverage, blocks }: Manifest): { from: number; to: number } {
  const ranges = blocks === undefined ? coverage : [blocks]
  return {
    from: ranges.reduce((least, { fromBlock }) => Math.min(least, fromBlock), Number.POSITIVE_INFINITY),
    to: ranges.reduce((most, { toBlock }) => Math.max(most, toBlock), 0),
  }
}

/** Whether all was read, in one line. */
function stampOf({ manifest, reading }: Read): Html {
  const missing = missingBlocks(manifest)
  const unit = manifest.blocks === undefined ? 'page' : 'block'
  if (refusedLines(manifest).length > 0 && manifest.rejects === 0 && missing === 0) return html``
  if (manifest.rejects === 0 && missing === 0)
    return html`<p class="stamp good">✓ Complete: every ${unit} was read, no record was rejected</p>`
  const rejects = manifest.rejects === 0 ? '' : `${counted(manifest.rejects, 'record')} could not be read`
  const gaps = missing === 0 ? '' : `${counted(missing, 'block')} could not be had from the service`
  const reason = reading.rejects[0]?.[0]
  return html`<p class="stamp bad">! ${[gaps, rejects].filter((text) => text !== '').join(' · ')}${reason === undefined ? '' : `: ${reason}`}</p>`
}
