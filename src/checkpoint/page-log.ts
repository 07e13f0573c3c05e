import { open } from 'node:fs/promises'
import type { CheckpointPage } from '../checkpoint/checkpoint.ts'
import { diskError } from '../core/platform/disk.ts'
import type { CheckpointIdentity } from './checkpoint-identity.ts'
import type { PageFields } from './checkpoint-state.ts'
import { isRecordHeader } from './record-header.ts'
import { type RecordLocation, scanRecordLog } from './record-log.ts'

/** A page of a log, in the form that `addPage` of a checkpoint accepts. */
type LoggedPage = CheckpointPage & { wallet: string }

/** The log of one run, opened read-only. */
export type PageLog = {
  identity: CheckpointIdentity | undefined
  /** All pages, including those without items, in the order in which they were received. */
  pages: readonly PageFields[]
  /** Yields the pages that match, with their bodies. Throws OUTPUT_FAILED. */
  read(isWanted: (page: PageFields) => boolean): AsyncGenerator<LoggedPage, void, void>
}

/** Reads the record headers of a log. Throws OUTPUT_FAILED. */
export async function openPageLog(path: string): Promise<PageLog> {
  const pageRecords: { fields: PageFields; location: RecordLocation }[] = []
  let identity: CheckpointIdentity | undefined
  await scanRecordLog(path, (header, location) => {
    if (!isRecordHeader(header)) return false
    if (header.kind === 'run') identity ??= header.identity as CheckpointIdentity
    if (header.kind === 'page') pageRecords.push({ fields: header as unknown as PageFields, location })
    return true
  })
  return {
    identity,
    pages: pageRecords.map(({ fields }) => fields),
    read: (isWanted) =>
      readBodies(
        path,
        pageRecords.filter(({ fields }) => isWanted(fields)),
      ),
  }
}

async function* readBodies(
  path: string,
  wanted: readonly { fields: PageFields; location: RecordLocation }[],
): AsyncGenerator<LoggedPage, void, void> {
  if (wanted.length === 0) return
  const file = await open(path, 'r')
  try {
    for (const { fields, location } of wanted) {
      const { wallet, items, bad, blocks, head, covered } = fields
      const body = Buffer.allocUnsafe(location.bytes)
      const { bytesRead } = await file.read(body, 0, location.bytes, location.offset)
      if (bytesRead < location.bytes)
        throw diskError(`cannot read ${path}`, new Error('unexpected end of file'))
      yield { wallet, body, items, bad, covered, blocks: blocks ?? undefined, head: head ?? undefined }
    }
  } finally {
    await file.close()
  }
}
