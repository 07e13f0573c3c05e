import { createReadStream, existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { diskError, makeFolder, publishFile } from '../core/platform/disk.ts'
import { type HashedFileWriter, openHashedFile } from '../core/platform/hashed-file.ts'
import { jsonText } from '../core/platform/json-text.ts'
import { temporaryPathFor } from '../core/platform/temporary-file.ts'
import { source } from '../sources/index.ts'

export type RawExport = {
  /** The output folder. */
  folder: string
  address: string
  /** The chain that was asked for: items of others have no place. @default any */
  chain?: string
  /** The strings of items are bytes. */
  transactions: Iterable<readonly { item: unknown }[]>
  /** Items without a place in the chain; where nothing stays, they may come while `transactions` is read. */
  bad: readonly unknown[]
  /** The transactions begin with this block: what the file holds of earlier ones stays. Absent: nothing stays. */
  appendFrom?: number | undefined
}

/** Keeps one wallet's items as they were received, in `raw/<address>.ndjson.gz`, one JSON item a line. */
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
  { chain, transactions, bad, appendFrom }: RawItems,
) {
  const badLines = () => new Set(bad.map((item) => jsonText(item)))
  if (appendFrom !== undefined && existsSync(path)) {
    const added = badLines()
    for await (const line of linesOf(path)) {
      if (isRetained(line, { chain, appendFrom, added })) await file.write(`${line}\n`)
    }
  }
  for (const views of transactions) {
    for (const { item } of views) await file.write(Buffer.from(`${jsonText(item)}\n`, 'latin1'))
  }
  for (const line of [...badLines()].sort()) await file.write(`${line}\n`)
}

type RetainOptions = { chain: string | undefined; appendFrom: number; added: ReadonlySet<string> }

/** A run that was killed after it published the file has left there what is about to be appended. */
function isRetained(line: string, { chain, appendFrom, added }: RetainOptions) {
  const key = source.keyOf(JSON.parse(line), chain)
  return typeof key === 'string' ? !added.has(line) : key.block < appendFrom
}

/** Lines of a packed file. Throws OUTPUT_FAILED where it cannot be read or unpacked. */
async function* linesOf(path: string): AsyncGenerator<string, void, void> {
  const source = createReadStream(path)
  const text = source.pipe(createGunzip()).setEncoding('utf8')
  source.once('error', (error) => text.destroy(error))
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
