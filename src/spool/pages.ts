import { diskError } from '../core/disk.ts'
import { openFrameLog, type WholePlace } from './log.ts'
import type { SpooledPage } from './spool.ts'
import type { PageFields } from './state.ts'

/** A page of a log, as `addPage` of a checkpoint takes it. */
export type LoggedPage = SpooledPage & { wallet: string }

/** The pages of a whole log with items in them, in the order of receipt. Throws OUTPUT_FAILED where it is damaged. */
export async function* eachPage(path: string): AsyncGenerator<LoggedPage, void, void> {
  const pages: { fields: PageFields; place: WholePlace }[] = []
  const onFrame = (head: { [name: string]: unknown }, place: WholePlace) => {
    if (head.kind === 'page') pages.push({ fields: head as unknown as PageFields, place })
  }
  const onDamage = () => {
    throw diskError(`cannot read ${path}`, new Error('a page in it is damaged'))
  }
  const log = await openFrameLog(path, { onFrame, onDamage })
  try {
    for (const { fields, place } of pages) {
      const { wallet, items, bad, blocks, head, covered } = fields
      if (items === 0) continue
      const body = await log.read(place)
      yield { wallet, body, items, bad, covered, blocks: blocks ?? undefined, head: head ?? undefined }
    }
  } finally {
    await log.close()
  }
}
