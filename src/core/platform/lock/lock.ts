import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { link, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ExportError } from '../../model/errors.ts'
import { diskError, makePrivateFolder, PRIVATE_MODE, readTextIfExists } from '../disk.ts'
import { assertNotSpecial } from '../special-entries.ts'
import {
  describeProcess,
  type Holder,
  isAlive,
  isOfThisMachine,
  parseHolder,
  processExists,
} from './holder.ts'

/** Milliseconds after which a lock that its holder does not renew may be taken over; it is renewed three times as often. */
const TTL_MS = 60_000
const RENEW_MS = TTL_MS / 3

/** Locks that this process holds: their content by path. */
const heldLocks = new Map<string, string>()

/**
 * Takes the output for this process; resolves with what gives it back. Throws OUTPUT_LOCKED, naming the lock, the process that
 * holds it and since when; `doing` says what it holds it for.
 *
 * A lock of a process that has ended on this machine is taken over at once. Processes of other machines and containers cannot be
 * asked: their locks are taken over when they have not been renewed for a minute, by the clock of the file system.
 *
 * A lock appears as a hard link, with its content or not at all; where the file system has none, it is created exclusively. Who
 * wants to replace an expired lock must first make a claim named after its content, which only one process can.
 */
export async function lockOutput(folder: string, activity = 'exporting'): Promise<() => Promise<void>> {
  const path = join(folder, 'lock')
  try {
    for (const entry of [folder, path]) await assertNotSpecial(entry)
    await makePrivateFolder(folder)
    const ownContent = JSON.stringify({ ...(await describeProcess()), nonce: randomBytes(6).toString('hex') })
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const { isOwn, now } = await create(path, ownContent)
      if (isOwn || (await takeOverIfExpired(path, { ownContent, activity, now }))) {
        await removeStaleFiles(folder)
        return keepRenewing(path, ownContent)
      }
      await wait(RETRY_DELAY_MS)
    }
  } catch (cause) {
    throw diskError(`cannot lock the output ${folder}`, cause)
  }
  throw new ExportError('OUTPUT_LOCKED', `another run keeps taking the lock ${path}`)
}

/** Throws OUTPUT_LOCKED where this process took the lock of a folder and another one has taken it over meanwhile. */
export async function requireLock(folder: string): Promise<void> {
  const path = join(folder, 'lock')
  const ownContent = heldLocks.get(path)
  if (ownContent === undefined || (await readTextIfExists(path)) === ownContent) return
  throw new ExportError(
    'OUTPUT_LOCKED',
    `another run has taken over ${path}, which this process did not renew for ${TTL_MS / 1000} seconds`,
    { fix: 'Wait for the other run to end, then run the same command again: it resumes.' },
  )
}

/** Who holds an output now; undefined where no one does, where the lock has expired, or where it may not be read. */
export async function holderOf(folder: string): Promise<Holder | undefined> {
  const found = await readLock(join(folder, 'lock')).catch(() => undefined)
  const holder = parseHolder(found?.content ?? '')
  if (found === undefined || holder === undefined) return undefined
  return (await isHolderAlive(holder, Date.now() - found.writtenMs)) ? holder : undefined
}

/** How often, and how far apart, a lock is tried that others are just taking over. */
const MAX_ATTEMPTS = 200
const RETRY_DELAY_MS = 10

/** Renews the lock until the function that it resolves with gives it back. */
function keepRenewing(path: string, ownContent: string): () => Promise<void> {
  heldLocks.set(path, ownContent)
  const timer = setInterval(() => void renew(path, ownContent).catch(() => undefined), RENEW_MS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    heldLocks.delete(path)
    if ((await readTextIfExists(path)) === ownContent) await rm(path, { force: true })
  }
}

/** Writes a byte of the lock again, so that the file system, whose clock others go by, notes the time. */
async function renew(path: string, ownContent: string): Promise<void> {
  const handle = await open(path, constants.O_RDWR | constants.O_NOFOLLOW)
  try {
    if ((await handle.readFile('utf8')) === ownContent) await handle.write(ownContent.slice(0, 1), 0)
  } finally {
    await handle.close()
  }
}

type CreateResult = {
  /** False where the name is taken, or where another process removed our file as that of a dead one. */
  isOwn: boolean
  /** The time by the clock of the file system, milliseconds since 1970. */
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

/** How file systems without hard links (SMB, exFAT, virtiofs, gcsfuse) say so. */
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

/** The file is empty for a moment: whoever finds it so waits; and whoever was too slow to fill it finds that it lost it. */
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

/** Our lock's content, what it is for in a word, and the time by the clock of the file system. */
type TakeoverOptions = { ownContent: string; activity: string; now: number }

/** Milliseconds for which a lock without a readable holder counts as one that is being created. */
const CREATION_GRACE_MS = 500

/** True where the lock of a process that has ended was there and is ours now. */
async function takeOverIfExpired(
  path: string,
  { ownContent, activity, now }: TakeoverOptions,
): Promise<boolean> {
  const found = await readLock(path)
  if (found === undefined) return false
  const { content, writtenMs } = found
  const holder = parseHolder(content)
  const age = now - writtenMs
  if (holder === undefined ? Math.abs(age) < CREATION_GRACE_MS : await isHolderAlive(holder, age)) {
    if (holder === undefined) return false
    throw await lockHeldError(holder, { path, activity })
  }
  const claim = await claimExpired(path, content, { ownContent, now })
  if (claim === undefined) return false
  // Only the claim's owner may change the dead lock: if it is still there now, it stays until we replace it.
  if ((await readTextIfExists(path)) === content) return replace(path, ownContent)
  await rm(claim, { force: true })
  return false
}

/** Whether a holder counts as alive whose lock has this age. */
async function isHolderAlive(holder: Holder, ageMs: number): Promise<boolean> {
  if (await isOfThisMachine(holder)) return isAlive(holder)
  // A time far ahead is no renewal either: the clock was set back since.
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
    fix: `Wait for the other run to end, or stop it. Where its machine or container has died, the lock expires ${TTL_MS / 1000} seconds after it was last renewed.`,
  })
}

/** The content of a lock, and when it was last renewed by the clock of the file system; undefined where there is none. */
async function readLock(path: string): Promise<{ content: string; writtenMs: number } | undefined> {
  const content = await readTextIfExists(path)
  const entry = content === undefined ? undefined : await stat(path).catch(() => undefined)
  return content === undefined || entry === undefined ? undefined : { content, writtenMs: entry.mtimeMs }
}

/** The path of our claim on a dead lock; undefined where another living process has one. The next in line follows a dead one. */
async function claimExpired(
  path: string,
  content: string,
  { ownContent, now }: Omit<TakeoverOptions, 'activity'>,
): Promise<string | undefined> {
  const id = createHash('sha256').update(content).digest('hex').slice(0, 16)
  for (let attempt = 0; ; attempt += 1) {
    const claim = `${path}.${id}.${attempt}.claim`
    if ((await create(claim, ownContent)).isOwn) return claim
    const found = await readLock(claim)
    if (found === undefined) return undefined
    const [holder, age] = [parseHolder(found.content), now - found.writtenMs]
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

/** Clears what dead processes left beside the lock that is now ours; claims can only be on locks that are gone. */
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
