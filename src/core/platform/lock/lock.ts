import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { link, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ExportError } from '../../model/errors.ts'
import { diskError, makePrivateFolder, PRIVATE_MODE, readTextIfAny } from '../disk.ts'
import { refuseSpecial } from '../special-entries.ts'
import { describeSelf, type Holder, isAlive, isOfThisMachine, isThere, parseHolder } from './holder.ts'

/** Milliseconds after which a lock that its holder does not renew may be taken over; it is renewed three times as often. */
const EXPIRES_MS = 60_000
const RENEW_MS = EXPIRES_MS / 3

/** Locks that this process holds: their content by path. */
const held = new Map<string, string>()

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
export async function lockOutput(folder: string, doing = 'exporting'): Promise<() => Promise<void>> {
  const path = join(folder, 'lock')
  try {
    for (const place of [folder, path]) await refuseSpecial(place)
    await makePrivateFolder(folder)
    const mine = JSON.stringify({ ...(await describeSelf()), nonce: randomBytes(6).toString('hex') })
    for (let turn = 0; turn < TURNS; turn += 1) {
      const { isOurs, now } = await create(path, mine)
      if (isOurs || (await takeOverIfDead(path, { mine, doing, now }))) {
        await sweep(folder)
        return hold(path, mine)
      }
      await wait(TURN_MS)
    }
  } catch (cause) {
    throw diskError(`cannot lock the output ${folder}`, cause)
  }
  throw new ExportError('OUTPUT_LOCKED', `another run keeps taking the lock ${path}`)
}

/** Throws OUTPUT_LOCKED where this process took the lock of a folder and another one has taken it over meanwhile. */
export async function requireLock(folder: string): Promise<void> {
  const path = join(folder, 'lock')
  const mine = held.get(path)
  if (mine === undefined || (await readTextIfAny(path)) === mine) return
  throw new ExportError(
    'OUTPUT_LOCKED',
    `another run has taken over ${path}, which this process did not renew for ${EXPIRES_MS / 1000} seconds`,
    { fix: 'Wait for the other run to end, then run the same command again: it resumes.' },
  )
}

/** Who holds an output now; undefined where no one does, where the lock has expired, or where it may not be read. */
export async function holderOf(folder: string): Promise<Holder | undefined> {
  const found = await readLock(join(folder, 'lock')).catch(() => undefined)
  const holder = parseHolder(found?.content ?? '')
  if (found === undefined || holder === undefined) return undefined
  return (await isHolding(holder, Date.now() - found.writtenMs)) ? holder : undefined
}

/** How often, and how far apart, a lock is tried that others are just taking over. */
const TURNS = 200
const TURN_MS = 10

/** Renews the lock until the function that it resolves with gives it back. */
function hold(path: string, mine: string): () => Promise<void> {
  held.set(path, mine)
  const timer = setInterval(() => void renew(path, mine).catch(() => undefined), RENEW_MS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    held.delete(path)
    if ((await readTextIfAny(path)) === mine) await rm(path, { force: true })
  }
}

/** Writes a byte of the lock again, so that the file system, whose clock others go by, notes the time. */
async function renew(path: string, mine: string): Promise<void> {
  const handle = await open(path, constants.O_RDWR | constants.O_NOFOLLOW)
  try {
    if ((await handle.readFile('utf8')) === mine) await handle.write(mine.slice(0, 1), 0)
  } finally {
    await handle.close()
  }
}

type Created = {
  /** False where the name is taken, or where another process removed our file as that of a dead one. */
  isOurs: boolean
  /** The time by the clock of the file system, milliseconds since 1970. */
  now: number
}

async function create(path: string, content: string): Promise<Created> {
  const temporary = temporaryFor(path)
  await writeFile(temporary, content, { flag: 'wx', mode: PRIVATE_MODE })
  try {
    const { mtimeMs: now } = await stat(temporary)
    return { isOurs: await linkOrCreate(temporary, path, content), now }
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return { isOurs: false, now: Date.now() }
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
  return (await readTextIfAny(path)) === content
}

const codeOf = (cause: unknown): string => (cause as NodeJS.ErrnoException).code ?? ''

function temporaryFor(path: string): string {
  return `${path}.${process.pid}.${randomBytes(6).toString('hex')}.new`
}

/** Our lock's content, what it is for in a word, and the time by the clock of the file system. */
type Taking = { mine: string; doing: string; now: number }

/** Milliseconds for which a lock without a readable holder counts as one that is being created. */
const UNREADABLE_MS = 500

/** True where the lock of a process that has ended was there and is ours now. */
async function takeOverIfDead(path: string, { mine, doing, now }: Taking): Promise<boolean> {
  const found = await readLock(path)
  if (found === undefined) return false
  const { content, writtenMs } = found
  const holder = parseHolder(content)
  const age = now - writtenMs
  if (holder === undefined ? Math.abs(age) < UNREADABLE_MS : await isHolding(holder, age)) {
    if (holder === undefined) return false
    throw await takenBy(holder, { path, doing })
  }
  const claim = await claimDead(path, content, { mine, now })
  if (claim === undefined) return false
  // Only the claim's owner may change the dead lock: if it is still there now, it stays until we replace it.
  if ((await readTextIfAny(path)) === content) return replace(path, mine)
  await rm(claim, { force: true })
  return false
}

/** Whether a holder counts as alive whose lock has this age. */
async function isHolding(holder: Holder, ageMs: number): Promise<boolean> {
  if (await isOfThisMachine(holder)) return isAlive(holder)
  // A time far ahead is no renewal either: the clock was set back since.
  return Math.abs(ageMs) <= EXPIRES_MS
}

async function takenBy(
  holder: Holder,
  { path, doing }: { path: string; doing: string },
): Promise<ExportError> {
  const { pid, host, startedAt } = holder
  const what = `process ${pid} on ${host} has been ${doing} here since ${startedAt}; its lock is ${path}`
  if (await isOfThisMachine(holder)) return new ExportError('OUTPUT_LOCKED', what)
  return new ExportError('OUTPUT_LOCKED', what, {
    fix: `Wait for the other run to end, or stop it. Where its machine or container has died, the lock expires ${EXPIRES_MS / 1000} seconds after it was last renewed.`,
  })
}

/** The content of a lock, and when it was last renewed by the clock of the file system; undefined where there is none. */
async function readLock(path: string): Promise<{ content: string; writtenMs: number } | undefined> {
  const content = await readTextIfAny(path)
  const entry = content === undefined ? undefined : await stat(path).catch(() => undefined)
  return content === undefined || entry === undefined ? undefined : { content, writtenMs: entry.mtimeMs }
}

/** The path of our claim on a dead lock; undefined where another living process has one. The next in line follows a dead one. */
async function claimDead(
  path: string,
  content: string,
  { mine, now }: Omit<Taking, 'doing'>,
): Promise<string | undefined> {
  const id = createHash('sha256').update(content).digest('hex').slice(0, 16)
  for (let turn = 0; ; turn += 1) {
    const claim = `${path}.${id}.${turn}.claim`
    if ((await create(claim, mine)).isOurs) return claim
    const found = await readLock(claim)
    if (found === undefined) return undefined
    const [holder, age] = [parseHolder(found.content), now - found.writtenMs]
    const isPending = holder === undefined ? Math.abs(age) < UNREADABLE_MS : await isHolding(holder, age)
    if (isPending) return undefined
  }
}

async function replace(path: string, mine: string): Promise<boolean> {
  const temporary = temporaryFor(path)
  await writeFile(temporary, mine, { flag: 'wx', mode: PRIVATE_MODE })
  await rename(temporary, path)
  return true
}

/** Clears what dead processes left beside the lock that is now ours; claims can only be on locks that are gone. */
async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const maker = /^lock\.(?:[0-9a-f]+\.\d+\.claim\.)?(\d+)\.[0-9a-f]+\.new$/.exec(name)?.[1]
    const stray = maker === undefined ? /^lock\.[0-9a-f]+\.\d+\.claim$/.test(name) : !isThere(Number(maker))
    if (stray) await rm(join(folder, name), { force: true })
  }
}
