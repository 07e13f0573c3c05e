import { createHash, randomBytes } from 'node:crypto'
import { link, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { diskError, makeFolder, readTextIfAny } from '../disk.ts'
import { ExportError } from '../errors.ts'
import { describeSelf, type Holder, isAlive, isThere, parseHolder } from './holder.ts'

/**
 * Takes the output for this process; resolves with what gives it back. A lock left by a dead process is taken over.
 * Throws OUTPUT_LOCKED, naming the process that holds it and since when; `doing` says what it holds it for.
 *
 * A lock is a hard link, which appears with its content or not at all. Who wants to replace a dead one must first make
 * a claim named after its content, which only one process can; so nobody ever moves a lock that is not dead.
 */
export async function lockOutput(folder: string, doing = 'exporting'): Promise<() => Promise<void>> {
  const path = join(folder, 'lock')
  try {
    await makeFolder(folder)
    const mine = JSON.stringify({ ...(await describeSelf()), nonce: randomBytes(6).toString('hex') })
    for (let turn = 0; turn < TURNS; turn += 1) {
      if ((await create(path, mine)) || (await takeOverIfDead(path, { mine, doing }))) {
        await sweep(folder)
        return () => release(path, mine)
      }
      await wait(TURN_MS)
    }
  } catch (cause) {
    throw diskError(`cannot lock the output ${folder}`, cause)
  }
  throw new ExportError('OUTPUT_LOCKED', `another run keeps taking the lock ${path}`)
}

/** Who holds an output now; undefined where nobody does, or a dead process left its lock. */
export async function holderOf(folder: string): Promise<Holder | undefined> {
  const holder = parseHolder((await readTextIfAny(join(folder, 'lock'))) ?? '')
  return holder !== undefined && (await isAlive(holder)) ? holder : undefined
}

/** How often, and how far apart, a lock is tried that others are just taking over. */
const TURNS = 100
const TURN_MS = 10

/** False where the name is taken, or where somebody swept our file away as a dead process's. */
async function create(path: string, content: string): Promise<boolean> {
  const temporary = temporaryFor(path)
  await writeFile(temporary, content)
  try {
    await link(temporary, path)
    return true
  } catch (cause) {
    if (['EEXIST', 'ENOENT'].includes((cause as NodeJS.ErrnoException).code ?? '')) return false
    throw cause
  } finally {
    await rm(temporary, { force: true })
  }
}

function temporaryFor(path: string): string {
  return `${path}.${process.pid}.${randomBytes(6).toString('hex')}.new`
}

/** Our lock's content, and what it is for in a word. */
type Taking = { mine: string; doing: string }

/** True where a dead lock was there and is ours now. */
async function takeOverIfDead(path: string, { mine, doing }: Taking): Promise<boolean> {
  const content = await readTextIfAny(path)
  if (content === undefined) return false
  const holder = parseHolder(content)
  if (holder !== undefined && (await isAlive(holder))) {
    const { pid, host, startedAt } = holder
    throw new ExportError(
      'OUTPUT_LOCKED',
      `process ${pid} on ${host} has been ${doing} here since ${startedAt}`,
    )
  }
  const claim = await claimDead(path, content, mine)
  if (claim === undefined) return false
  // Only the claim's owner may change the dead lock: if it is still there now, it stays until we replace it.
  if ((await readTextIfAny(path)) === content) return replace(path, mine)
  await rm(claim, { force: true })
  return false
}

/** The path of our claim on a dead lock; undefined where somebody alive has one. The next in line follows a dead one. */
async function claimDead(path: string, content: string, mine: string): Promise<string | undefined> {
  const id = createHash('sha256').update(content).digest('hex').slice(0, 16)
  for (let turn = 0; ; turn += 1) {
    const claim = `${path}.${id}.${turn}.claim`
    if (await create(claim, mine)) return claim
    const claimed = await readTextIfAny(claim)
    const claimant = parseHolder(claimed ?? '')
    if (claimed === undefined || (claimant !== undefined && (await isAlive(claimant)))) return undefined
  }
}

async function replace(path: string, mine: string): Promise<boolean> {
  const temporary = temporaryFor(path)
  await writeFile(temporary, mine)
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

async function release(path: string, mine: string): Promise<void> {
  if ((await readTextIfAny(path)) === mine) await rm(path, { force: true })
}
