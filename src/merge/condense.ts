import { type FileHandle, open } from 'node:fs/promises'
import { diskError } from '../disk.ts'
import { compareKeys } from '../item-key.ts'
import { compareFirst, compareItems, type ItemSource, type Place, type WalletItem } from './frame-items.ts'

export type CondenseOptions = {
  /** Where sorted runs are staged; the caller removes it. */
  file: string
  /** How many bytes of page bodies may overlap in one merge, in bytes. @default 8000000 */
  budgetBytes?: number
}

const CONDENSE_DEFAULTS = { budgetBytes: 8_000_000 } as const

/**
 * Makes sources that a merge can hold in memory: where more of them overlap than the budget allows (many wallets over
 * the same blocks), groups of them are sorted into runs on disk first, again and again until it fits.
 */
export async function condense(
  sources: readonly ItemSource[],
  options: CondenseOptions,
): Promise<{ sources: readonly ItemSource[]; close(): Promise<void> }> {
  const budgetBytes = options.budgetBytes ?? CONDENSE_DEFAULTS.budgetBytes
  if (mostOverlap(sources) <= budgetBytes) return { sources, close: async () => {} }
  const file = await open(options.file, 'w+')
  const runs: RunFile = { file, end: 0, chunkBytes: Math.ceil(budgetBytes / 64) }
  let at = sources
  while (mostOverlap(at) > budgetBytes) {
    const fewer = await sortGroups(at, runs, budgetBytes)
    if (mostOverlap(fewer) >= mostOverlap(at)) return { sources: fewer, close: () => file.close() }
    at = fewer
  }
  return { sources: at, close: () => file.close() }
}

type RunFile = { file: FileHandle; end: number; chunkBytes: number }

/** The most bytes of sources that a merge would hold at once. */
function mostOverlap(sources: readonly ItemSource[]): number {
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
  sources: readonly ItemSource[],
  runs: RunFile,
  budgetBytes: number,
): Promise<ItemSource[]> {
  const sorted = sources.map((source, order) => ({ source, order }))
  sorted.sort((a, b) => compareFirst(a.source, b.source) || a.order - b.order)
  const made: ItemSource[] = []
  let group: typeof sorted = []
  let bytes = 0
  for (const entry of sorted) {
    group.push(entry)
    bytes += entry.source.bytes
    if (bytes < budgetBytes) continue
    made.push(...(await sortGroup(group, runs)))
    group = []
    bytes = 0
  }
  return [...made, ...(await sortGroup(group, runs))]
}

/** Each item keeps the place of its page in the order of receipt, so that the last view received wins later. */
async function sortGroup(
  group: readonly { source: ItemSource; order: number }[],
  runs: RunFile,
): Promise<ItemSource[]> {
  const items: WalletItem[] = []
  for (const { source, order } of group) {
    for (const item of await source.load()) items.push({ received: order, ...item })
  }
  return writeRun(onlyLast(items.sort(byPlaceAndReceipt)), runs)
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

async function writeRun(items: WalletItem[], runs: RunFile): Promise<ItemSource[]> {
  const made: ItemSource[] = []
  for (let from = 0; from < items.length; ) {
    const lines: string[] = []
    let bytes = 0
    const start = from
    while (from < items.length && bytes < runs.chunkBytes) {
      const line = JSON.stringify(items[from++])
      bytes += line.length
      lines.push(line)
    }
    const body = Buffer.from(`[${lines.join(',')}]`)
    made.push(
      await writeChunk(runs, body, {
        first: items[start] as WalletItem,
        last: items[from - 1] as WalletItem,
      }),
    )
  }
  return made
}

async function writeChunk(
  runs: RunFile,
  body: Buffer,
  { first, last }: { first: WalletItem; last: WalletItem },
): Promise<ItemSource> {
  const offset = runs.end
  const { bytesWritten } = await runs.file.write(body, 0, body.length, offset)
  if (bytesWritten < body.length) throw diskError('cannot stage sorted pages', new Error('the disk is full'))
  runs.end += body.length
  const span = { first: placeOf(first), last: placeOf(last) }
  return chunkSource(runs.file, { offset, bytes: body.length }, span)
}

/** Holds on to places and numbers only: the items and their bytes are on disk. */
function chunkSource(
  file: FileHandle,
  { offset, bytes }: { offset: number; bytes: number },
  span: NonNullable<ItemSource['span']>,
): ItemSource {
  return {
    bytes,
    span,
    load: async () => {
      const body = Buffer.allocUnsafe(bytes)
      const { bytesRead } = await file.read(body, 0, bytes, offset)
      if (bytesRead < bytes) throw diskError('cannot read sorted pages', new Error('they end too early'))
      return JSON.parse(body.toString('utf8')) as WalletItem[]
    },
  }
}

function placeOf({ key: { block, index, hash } }: WalletItem): Place {
  return { block, index, hash }
}
