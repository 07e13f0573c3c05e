import { createReadStream, existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { diskError, makeFolder, publishFile } from '../core/platform/disk.ts'
import { type HashedFileWriter, openHashedFile } from '../core/platform/hashed-file.ts'
import { jsonText } from '../core/platform/json-text.ts'
import { temporaryPathFor } from '../core/platform/temporary-file.ts'
import type { Source } from '../sources/source.ts'

export type RawExport = {
  /** The output folder. */
  folder: string
  address: string
  source: Pick<Source, 'keyOf'>
  /** Chain of the job; items of other chains have no valid position. @default any */
  chain?: string
  /** Items by transaction. Their strings are latin1: one character per byte of the response. */
  transactions: Iterable<readonly { item: unknown }[]>
  /** Items without a valid position in the chain. Without `appendFrom`, the list may grow while `transactions` is read. */
  bad: readonly unknown[]
  /** First block of `transactions`. Items of earlier blocks are retained from the existing file. If absent, none are. */
  appendFrom?: number | undefined
}

/** Writes the items of one wallet as received to `raw/<address>.ndjson.gz`, one JSON item per line. */
export async function writeRaw({ folder, address, ...items }: RawExport): Promise<void> {
  const path = join(folder, 'raw', `${address}.ndjson.gz`)
  await makeFolder(join(folder, 'raw'))
  const temporary = await temporaryPathFor(path)
  const file = openHashedFile(temporary, { gzip: true })
  try {
    await writeLines(file, path, items)
    await file.finish()
  } catch (thrown) {
    await file.abort()
    await rm(temporary, { force: true })
    throw thrown
  }
  await publishFile(temporary, path)
}

type RawItems = Omit<RawExport, 'folder' | 'address'>

async function writeLines(
  file: HashedFileWriter,
  path: string,
  { source, chain, transactions, bad, appendFrom }: RawItems,
) {
  const badLines = () => new Set(bad.map((item) => jsonText(item)))
  if (appendFrom !== undefined && existsSync(path)) {
    const added = badLines()
    for await (const line of linesOf(path)) {
      if (isRetained(line, { source, chain, appendFrom, added })) await file.write(`${line}\n`)
    }
  }
  for (const views of transactions) {
    for (const { item } of views) await file.write(Buffer.from(`${jsonText(item)}\n`, 'latin1'))
  }
  for (const line of [...badLines()].sort()) await file.write(`${line}\n`)
}

type RetainOptions = Pick<RawExport, 'source'> & {
  chain: string | undefined
  appendFrom: number
  added: ReadonlySet<string>
}

/**
 * Whether a line of the existing file is retained. Lines that are about to be appended are not: a run that was killed
 * after it published this file has already written them.
 */
function isRetained(line: string, { source, chain, appendFrom, added }: RetainOptions) {
  const key = source.keyOf(JSON.parse(line), chain)
  return typeof key === 'string' ? !added.has(line) : key.block < appendFrom
}

/** Yields the lines of a gzip file. Throws OUTPUT_FAILED if it cannot be read or decompressed. */
async function* linesOf(path: string): AsyncGenerator<string, void, void> {
  const file = createReadStream(path)
  const text = file.pipe(createGunzip()).setEncoding('utf8')
  file.once('error', (error) => text.destroy(error))
  let partialLine = ''
  try {
    for await (const chunk of text as AsyncIterable<string>) {
      const lines = (partialLine + chunk).split('\n')
      partialLine = lines.pop() ?? ''
      yield* lines
    }
  } catch (cause) {
    throw diskError(`cannot read ${path}`, cause)
  }
}
