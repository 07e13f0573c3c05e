import { randomBytes } from 'node:crypto'
import { open, rename, rm, stat } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { ExportError } from '../../core/model/errors.ts'
import { makeParentFolder } from '../../core/platform/disk.ts'

/** How often, and how far apart, a lock is tried that another process holds: for ten seconds in all. */
const MAX_ATTEMPTS = 200
const RETRY_MS = 50

/** The work under a lock takes milliseconds: a lock of this age was left by a process that was killed. */
const STALE_MS = 60_000

/** Does work that only one process at a time may do with a file. Throws OUTPUT_LOCKED where the lock stays taken. */
export async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const lock = `${file}.lock`
  await makeParentFolder(file)
  for (let attempt = 0; !(await tryLock(lock)); attempt += 1) {
    if (attempt === MAX_ATTEMPTS)
      throw new ExportError('OUTPUT_LOCKED', `another conversion holds ${lock}`, {
        fix: `Wait until it has ended; if there is none, remove ${lock}.`,
      })
    await removeIfStale(lock)
    await wait(RETRY_MS)
  }
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
  }
}

async function tryLock(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx')).close()
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw cause
  }
}

/** Of several processes only one renames a stale lock; what it renamed is looked at again, since a new one may stand there. */
async function removeIfStale(lock: string): Promise<void> {
  if (!(await isStale(lock))) return
  const renamedLock = `${lock}.${process.pid}.${randomBytes(6).toString('hex')}`
  const isRenamed = await rename(lock, renamedLock).then(
    () => true,
    () => false,
  )
  if (!isRenamed) return
  if (await isStale(renamedLock)) await rm(renamedLock, { force: true })
  else await rename(renamedLock, lock)
}

async function isStale(path: string): Promise<boolean> {
  const entry = await stat(path).catch(() => undefined)
  return entry !== undefined && Date.now() - entry.mtimeMs > STALE_MS
}
