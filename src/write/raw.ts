import { createReadStream, existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { publishFile } from '../disk.ts'
import { openHashedFile } from './part-file.ts'

export type RawExport = {
  /** The output folder. */
  folder: string
  address: string
  transactions: AsyncIterable<readonly { item: unknown }[]>
  /** Items without a place in the chain, filled while `transactions` is read. */
  bad: readonly unknown[]
  /** What the file holds stays and comes first: the transactions are those that came since. */
  append: boolean
}

/** Keeps one wallet's items as they were received, in `raw/<address>.ndjson.gz`, one JSON item a line. */
export async function writeRaw({ folder, address, transactions, bad, append }: RawExport): Promise<void> {
  const path = join(folder, 'raw', `${address}.ndjson.gz`)
  await mkdir(join(folder, 'raw'), { recursive: true })
  const file = openHashedFile(`${path}.part`, { gzip: true })
  try {
    if (append && existsSync(path)) {
      const before = createReadStream(path).pipe(createGunzip())
      for await (const block of before as AsyncIterable<Buffer>) await file.write(block)
    }
    for await (const views of transactions) {
      for (const { item } of views) await file.write(`${JSON.stringify(item)}\n`)
    }
    for (const line of [...new Set(bad.map((item) => JSON.stringify(item)))].sort())
      await file.write(`${line}\n`)
    await file.finish()
  } catch (thrown) {
    await file.abandon()
    await rm(`${path}.part`, { force: true })
    throw thrown
  }
  await publishFile(`${path}.part`, path)
}
