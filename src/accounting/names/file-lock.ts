import { randomBytes } from 'node:crypto'
import { open, rename, rm, stat } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { ExportError } from '../../core/model/errors.ts'
import { makeParentFolder } from '../../core/platform/disk.ts'
import { RETRY_POLICIES } from '../../core/platform/retry.ts'

/** A lock is held for milliseconds, so one of this age was left by a killed process. */
const STALE_MS = 60_000

/** Runs work under an exclusive lock of a file. Throws OUTPUT_LOCKED if another process does not release the lock in time. */
export async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const lock = `${file}.lock`
  await makeParentFolder(file)
  for (let attempt = 0; !(await tryLock(lock)); attempt += 1) {
    if (attempt === RETRY_POLICIES.fileLock.retries)
      throw new ExportError('OUTPUT_LOCKED', `another conversion holds ${lock}`, {
        fix: `Wait until it ends. If none is running, remove ${lock}.`,
      })
    await removeIfStale(lock)
    await wait(RETRY_POLICIES.fileLock.firstDelayMs)
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

/**
 * Removes a stale lock. Only one of several processes succeeds in renaming it. The renamed lock is checked again,
 * because another process may have replaced the stale lock by a new one in between; a new one is restored.
 */
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
