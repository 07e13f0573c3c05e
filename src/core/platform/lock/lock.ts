import { createHash, randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { link, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ExportError } from '../../model/errors.ts'
import { diskError, makePrivateFolder, PRIVATE_MODE, readTextIfExists, withFile } from '../disk.ts'
import { entryAt } from '../entry.ts'
import { RETRY_POLICIES } from '../retry.ts'
import { assertNotSpecial } from '../special-entries.ts'
import {
  describeProcess,
  type Holder,
  isAlive,
  isOfThisMachine,
  parseHolder,
  processExists,
} from './holder.ts'

/** Milliseconds without renewal after which a lock may be taken over. */
const TTL_MS = 60_000
const RENEW_MS = TTL_MS / 3

/** Locks that this process holds, by path. */
const heldLocks = new Map<string, HeldLock>()

/** `version`: state of the file when its content was last compared. */
type HeldLock = { content: string; version?: string | undefined }

/**
 * Locks an output and resolves with a function that releases the lock. Throws OUTPUT_LOCKED with the path of the lock, the
 * process that holds it and the time since when.
 *
 * A lock whose process has ended on this machine is taken over at once. Processes of other machines and containers cannot
 * be checked; their locks are taken over if they were not renewed for a minute, by the clock of the file system. A lock is
 * created as a hard link, so that it appears with its full content or not at all. File systems without hard links use
 * exclusive creation. A process that wants to replace an expired lock must first create a claim file, named after a hash of
 * the lock's content, which only one process can do. `activity` is what this process does, for the messages of other
 * processes.
 */
export async function lockOutput(folder: string, activity = 'exporting'): Promise<() => Promise<void>> {
  const path = join(folder, 'lock')
  try {
    for (const entry of [folder, path]) await assertNotSpecial(entry)
    await makePrivateFolder(folder)
    const ownContent = JSON.stringify({ ...(await describeProcess()), nonce: randomBytes(6).toString('hex') })
    for (let attempt = 0; attempt <= RETRY_POLICIES.outputLock.retries; attempt += 1) {
      const { isOwn, now } = await create(path, ownContent)
      if (isOwn || (await takeOverIfExpired(path, { ownContent, activity, now }))) {
        await removeStaleFiles(folder)
        return keepRenewing(path, ownContent)
      }
      await wait(RETRY_POLICIES.outputLock.firstDelayMs)
    }
  } catch (cause) {
    throw diskError(`cannot lock the output ${folder}`, cause)
  }
  throw new ExportError('OUTPUT_LOCKED', `another run keeps taking the lock ${path}`)
}

/** Throws OUTPUT_LOCKED if this process locked the folder and another process has taken the lock over since. */
export async function requireLock(folder: string): Promise<void> {
  const path = join(folder, 'lock')
  const held = heldLocks.get(path)
  if (held === undefined) return
  // A takeover replaces the file, and a renewal updates its modification time.
  const version = versionOf(path)
  if (version !== undefined && version === held.version) return
  if ((await readTextIfExists(path)) === held.content) {
    held.version = version
    return
  }
  throw new ExportError(
    'OUTPUT_LOCKED',
    `another run has taken over ${path}, which this process did not renew for ${TTL_MS / 1000} seconds`,
    { fix: 'Wait for the other run to end, then run the same command again: it resumes.' },
  )
}

/**
 * State of a file; undefined if it cannot be read. The file is opened, because network file systems may answer `stat` of a
 * path from a cache. Synchronous, because this precedes each write of a checkpoint: the calls take 10 µs, and through the
 * thread pool took 5 % of a run's processor time.
 */
function versionOf(path: string): string | undefined {
  let file: number | undefined
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const { ino, ctimeMs, mtimeMs } = fstatSync(file)
    return `${ino} ${ctimeMs} ${mtimeMs}`
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** The process that holds an output; undefined if nobody does, if the lock has expired, or if it cannot be read. */
export async function holderOf(folder: string): Promise<Holder | undefined> {
  const lock = await readLock(join(folder, 'lock')).catch(() => undefined)
  const holder = parseHolder(lock?.content ?? '')
  if (lock === undefined || holder === undefined) return undefined
  return (await isHolderAlive(holder, Date.now() - lock.writtenMs)) ? holder : undefined
}

/** Renews the lock until the returned function releases it. */
function keepRenewing(path: string, ownContent: string): () => Promise<void> {
  heldLocks.set(path, { content: ownContent })
  const timer = setInterval(() => void renew(path, ownContent).catch(() => undefined), RENEW_MS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    heldLocks.delete(path)
    if ((await readTextIfExists(path)) === ownContent) await rm(path, { force: true })
  }
}

/** Rewrites the first byte of the lock, so that the file system, whose clock other processes use, updates its time. */
const renew = (path: string, ownContent: string): Promise<void> =>
  withFile(path, constants.O_RDWR | constants.O_NOFOLLOW, async (handle) => {
    if ((await handle.readFile('utf8')) === ownContent) await handle.write(ownContent.slice(0, 1), 0)
  })

type CreateResult = {
  /** False if the path exists already, or if another process removed the temporary file as stale. */
  isOwn: boolean
  /** Time by the clock of the file system, in milliseconds since 1970. */
  now: number
}

async function create(path: string, content: string): Promise<CreateResult> {
  const temporary = temporaryFor(path)
  await writeFile(temporary, content, { flag: 'wx', mode: PRIVATE_MODE })
  try {
    const { mtimeMs: now } = await stat(temporary)
    return { isOwn: await linkOrCreate(temporary, path, content), now }
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return { isOwn: false, now: Date.now() }
    throw cause
  } finally {
    await rm(temporary, { force: true })
  }
}

/** Error codes of file systems without hard links (SMB, exFAT, virtiofs, gcsfuse). */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL', 'EMLINK', 'EXDEV'])

async function linkOrCreate(temporary: string, path: string, content: string): Promise<boolean> {
  try {
    await link(temporary, path)
    return true
  } catch (cause) {
    const code = codeOf(cause)
    if (code === 'EEXIST' || code === 'ENOENT') return false
    if (!NO_LINKS.has(code)) throw cause
    return createExclusively(path, content)
  }
}

/**
 * Without hard links, the file is briefly empty: readers wait, and a writer that is too slow finds that it lost the lock.
 */
async function createExclusively(path: string, content: string): Promise<boolean> {
  try {
    await writeFile(path, content, { flag: 'wx', mode: PRIVATE_MODE })
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false
    await rm(path, { force: true }).catch(() => undefined)
    throw cause
  }
  return (await readTextIfExists(path)) === content
}

const codeOf = (cause: unknown): string => (cause as NodeJS.ErrnoException).code ?? ''

function temporaryFor(path: string): string {
  return `${path}.${process.pid}.${randomBytes(6).toString('hex')}.new`
}

/** The content of this process's lock, its activity, and the time by the clock of the file system. */
type TakeoverOptions = { ownContent: string; activity: string; now: number }

/** Milliseconds for which a lock without a readable holder counts as being created. */
const CREATION_GRACE_MS = 500

/** Replaces the lock if its holder has ended; resolves with true if this process holds it now. */
async function takeOverIfExpired(
  path: string,
  { ownContent, activity, now }: TakeoverOptions,
): Promise<boolean> {
  const lock = await readLock(path)
  if (lock === undefined) return false
  const { content, writtenMs } = lock
  const holder = parseHolder(content)
  const age = now - writtenMs
  if (holder === undefined ? Math.abs(age) < CREATION_GRACE_MS : await isHolderAlive(holder, age)) {
    if (holder === undefined) return false
    throw await lockHeldError(holder, { path, activity })
  }
  const claim = await claimExpired(path, content, { ownContent, now })
  if (claim === undefined) return false
  // Only the owner of the claim may change the expired lock: if it still exists now, it stays until `replace`.
  if ((await readTextIfExists(path)) === content) return replace(path, ownContent)
  await rm(claim, { force: true })
  return false
}

/** Whether the holder of a lock of this age counts as alive. */
async function isHolderAlive(holder: Holder, ageMs: number): Promise<boolean> {
  if (await isOfThisMachine(holder)) return isAlive(holder)
  // A modification time far in the future is not a renewal either: the clock was set back since.
  return Math.abs(ageMs) <= TTL_MS
}

async function lockHeldError(
  holder: Holder,
  { path, activity }: { path: string; activity: string },
): Promise<ExportError> {
  const { pid, host, startedAt } = holder
  const what = `process ${pid} on ${host} has been ${activity} here since ${startedAt}; its lock is ${path}`
  if (await isOfThisMachine(holder)) return new ExportError('OUTPUT_LOCKED', what)
  return new ExportError('OUTPUT_LOCKED', what, {
    fix: `Wait for the other run to end, or stop it. If its machine or container has died, the lock expires ${TTL_MS / 1000} seconds after it was last renewed.`,
  })
}

/** The content of a lock and its last renewal by the clock of the file system; undefined if there is no lock. */
async function readLock(path: string): Promise<{ content: string; writtenMs: number } | undefined> {
  const content = await readTextIfExists(path)
  const entry = content === undefined ? undefined : await entryAt(path)
  return content === undefined || entry === undefined ? undefined : { content, writtenMs: entry.mtimeMs }
}

/** Claims an expired lock; undefined if another running process has a claim. Claims of ended processes are skipped. */
async function claimExpired(
  path: string,
  content: string,
  { ownContent, now }: Omit<TakeoverOptions, 'activity'>,
): Promise<string | undefined> {
  const id = createHash('sha256').update(content).digest('hex').slice(0, 16)
  for (let attempt = 0; ; attempt += 1) {
    const claim = `${path}.${id}.${attempt}.claim`
    if ((await create(claim, ownContent)).isOwn) return claim
    const written = await readLock(claim)
    if (written === undefined) return undefined
    const [holder, age] = [parseHolder(written.content), now - written.writtenMs]
    const isPending =
      holder === undefined ? Math.abs(age) < CREATION_GRACE_MS : await isHolderAlive(holder, age)
    if (isPending) return undefined
  }
}

async function replace(path: string, ownContent: string): Promise<boolean> {
  const temporary = temporaryFor(path)
  await writeFile(temporary, ownContent, { flag: 'wx', mode: PRIVATE_MODE })
  await rename(temporary, path)
  return true
}

/** Removes temporary files of ended processes, and all claims: they can only refer to locks before this process's. */
async function removeStaleFiles(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const creatorPid = /^lock\.(?:[0-9a-f]+\.\d+\.claim\.)?(\d+)\.[0-9a-f]+\.new$/.exec(name)?.[1]
    const isStale =
      creatorPid === undefined
        ? /^lock\.[0-9a-f]+\.\d+\.claim$/.test(name)
        : !processExists(Number(creatorPid))
    if (isStale) await rm(join(folder, name), { force: true })
  }
}
