import { open } from 'node:fs/promises'
import type { SpooledPage } from '../checkpoint/checkpoint.ts'
import { diskError } from '../core/platform/disk.ts'
import type { SpoolIdentity } from './checkpoint-identity.ts'
import type { PageFields } from './checkpoint-state.ts'
import { isFrameHead } from './record-header.ts'
import { type FramePlace, scanFrameLog } from './record-log.ts'

/** A page of a log, as `addPage` of a checkpoint takes it. */
type LoggedPage = SpooledPage & { wallet: string }

/** A whole log of one run, opened to be read only. */
export type PageLog = {
  identity: SpoolIdentity | undefined
  /** All pages, those without items too, in the order of receipt. */
  pages: readonly PageFields[]
  /** The pages that are wanted, with their bodies. Throws OUTPUT_FAILED. */
  read(isWanted: (page: PageFields) => boolean): AsyncGenerator<LoggedPage, void, void>
}

/** Reads the heads of a log. Throws OUTPUT_FAILED. */
export async function openPageLog(path: string): Promise<PageLog> {
  const found: { fields: PageFields; place: FramePlace }[] = []
  let identity: SpoolIdentity | undefined
  await scanFrameLog(path, (head, place) => {
    if (!isFrameHead(head)) return false
    if (head.kind === 'run') identity ??= head.identity as SpoolIdentity
    if (head.kind === 'page') found.push({ fields: head as unknown as PageFields, place })
    return true
  })
  return {
    identity,
    pages: found.map(({ fields }) => fields),
    read: (isWanted) =>
      readBodies(
        path,
        found.filter(({ fields }) => isWanted(fields)),
      ),
  }
}

async function* readBodies(
  path: string,
  wanted: readonly { fields: PageFields; place: FramePlace }[],
): AsyncGenerator<LoggedPage, void, void> {
  if (wanted.length === 0) return
  const file = await open(path, 'r')
  try {
    for (const { fields, place } of wanted) {
      const { wallet, items, bad, blocks, head, covered } = fields
      const body = Buffer.allocUnsafe(place.bytes)
      const { bytesRead } = await file.read(body, 0, place.bytes, place.offset)
      if (bytesRead < place.bytes) throw diskError(`cannot read ${path}`, new Error('it ends too early'))
      yield { wallet, body, items, bad, covered, blocks: blocks ?? undefined, head: head ?? undefined }
    }
  } finally {
    await file.close()
  }
}
