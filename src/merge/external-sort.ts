import { readSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { compareKeys } from '../core/item-key.ts'
import { jsonText } from '../core/json-text.ts'
import { compareFirst, compareItems, type ItemSource, type Place, type WalletItem } from './frame-items.ts'
import { openSource, type SourcePlace } from './source-place.ts'

export type ExternalSort = {
  /** Where sorted runs are staged, after those of an earlier call; the caller removes it. */
  file: string
  /** Makes a page's place a source. */
  open: (place: SourcePlace) => ItemSource
  /** How many bytes of page bodies may overlap in one merge, in bytes. @default 4000000 */
  budgetBytes?: number
  /** Breaks it off. */
  signal?: AbortSignal | undefined
}

const BUDGET_BYTES = 4_000_000

/** Whether `sortExternally` by default has something to do. */
export function overlapTooMuch(places: readonly SourcePlace[]): boolean {
  return mostOverlap(places) > BUDGET_BYTES
}

/**
 * Makes sources that a merge can hold in memory: where more of them overlap than the budget allows (many wallets over
 * the same blocks), groups of them are sorted into runs on disk first, again and again until it fits.
 */
export async function sortExternally(
  places: readonly SourcePlace[],
  options: ExternalSort,
): Promise<readonly SourcePlace[]> {
  const budgetBytes = options.budgetBytes ?? BUDGET_BYTES
  if (mostOverlap(places) <= budgetBytes) return places
  const file = await open(options.file, 'a+')
  try {
    const { size: end } = await file.stat()
    const { open, signal } = options
    const chunkBytes = Math.ceil(budgetBytes / 128)
    const runs: RunFile = { file, end, chunkBytes, open, signal }
    let at = places
    while (mostOverlap(at) > budgetBytes) {
      // Half of it: what is sorted is in memory whole, and as text too.
      const fewer = await sortGroups(at, runs, budgetBytes / 2)
      if (mostOverlap(fewer) >= mostOverlap(at)) return fewer
      at = fewer
    }
    return at
  } finally {
    await file.close()
  }
}

type RunFile = Pick<ExternalSort, 'open' | 'signal'> & {
  file: FileHandle
  end: number
  chunkBytes: number
}

/** The most bytes of sources that a merge would hold at once. */
export function mostOverlap(sources: readonly Pick<SourcePlace, 'span' | 'bytes'>[]): number {
  const edges = sources.flatMap(({ span, bytes }) =>
    span === null
      ? []
      : [
          { at: span.first, bytes },
          { at: span.last, bytes: -bytes },
        ],
  )
  edges.sort((a, b) => compareKeys(a.at, b.at) || b.bytes - a.bytes)
  let [held, most] = [0, 0]
  for (const { bytes } of edges) {
    held += bytes
    most = Math.max(most, held)
  }
  return most
}

async function sortGroups(
  sources: readonly SourcePlace[],
  runs: RunFile,
  groupBytes: number,
): Promise<SourcePlace[]> {
  const inOrder = sources.map((source, order) => ({ source, order }))
  inOrder.sort((a, b) => compareFirst(a.source, b.source) || a.order - b.order)
  const made: SourcePlace[] = []
  let group: typeof inOrder = []
  let bytes = 0
  for (const entry of inOrder) {
    group.push(entry)
    bytes += entry.source.bytes
    if (bytes < groupBytes) continue
    made.push(...(await sortGroup(group, runs)))
    group = []
    bytes = 0
  }
  return [...made, ...(await sortGroup(group, runs))]
}

/** Each item keeps the place of its page in the order of receipt, so that the last view received wins later. */
async function sortGroup(
  group: readonly { source: SourcePlace; order: number }[],
  runs: RunFile,
): Promise<SourcePlace[]> {
  runs.signal?.throwIfAborted()
  const items: WalletItem[] = []
  for (const { source, order } of group) {
    const { load } = source.wallet === null ? openRun(source, runs) : runs.open(source)
    for (const item of load()) items.push({ received: order, ...item })
  }
  return writeRun(onlyLast(items.sort(byPlaceAndReceipt)), runs)
}

function openRun(place: SourcePlace, { file }: RunFile): ItemSource {
  const read = ({ offset, bytes }: SourcePlace) => {
    const body = Buffer.allocUnsafe(bytes)
    readSync(file.fd, body, 0, bytes, offset)
    return body
  }
  return openSource(place, { read, range: { from: 0, to: Infinity }, cutMs: Infinity })
}

function byPlaceAndReceipt(a: WalletItem, b: WalletItem): number {
  return compareItems(a, b) || (a.received ?? 0) - (b.received ?? 0)
}

function onlyLast(items: WalletItem[]): WalletItem[] {
  return items.filter((item, at) => {
    const after = items[at + 1]
    return after === undefined || compareItems(item, after) !== 0
  })
}

/** A run in chunks, each up to where the next begins: that place is one for both, here and in any other thread. */
async function writeRun(items: readonly WalletItem[], runs: RunFile): Promise<SourcePlace[]> {
  const made: SourcePlace[] = []
  let first = items[0] && placeOf(items[0])
  for (let at = 0; first !== undefined; ) {
    const lines: string[] = []
    let bytes = 0
    while (at < items.length && bytes < runs.chunkBytes) {
      const line = `${jsonText(items[at++])}\n`
      bytes += line.length
      lines.push(line)
    }
    const next = items[at] && placeOf(items[at] as WalletItem)
    const last = next ?? placeOf(items.at(-1) as WalletItem)
    made.push(await writeChunk(runs, Buffer.from(lines.join(''), 'latin1'), { first, last }))
    first = next
  }
  return made
}

async function writeChunk(
  runs: RunFile,
  body: Buffer,
  span: { first: Place; last: Place },
): Promise<SourcePlace> {
  const offset = runs.end
  await runs.file.appendFile(body)
  runs.end += body.length
  return { wallet: null, offset, bytes: body.length, span }
}

function placeOf({ key: { block, index, hash } }: WalletItem): Place {
  return { block, index, hash }
}
