import { link, mkdir, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { diskError, readTextIfAny } from '../disk.ts'
import { ExportError } from '../errors.ts'

/** Who holds an output. */
type Holder = {
  pid: number
  host: string
  /** When the run began, ISO time. */
  startedAt: string
  /** The kernel's start time of the process, to tell it from a later one of the same number; null where unknown. */
  ticks: string | null
}

/**
 * Takes the output for this process; resolves with what gives it back. A lock left by a dead process is taken over.
 * Throws OUTPUT_LOCKED, naming the process that holds it and since when.
 */
export async function lockOutput(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, 'lock')
  try {
    await mkdir(folder, { recursive: true })
    const mine = JSON.stringify(await describeSelf())
    for (let turn = 0; turn < 5; turn += 1) {
      if (await create(path, mine)) return () => release(path, mine)
      await takeOverIfDead(path)
    }
  } catch (cause) {
    throw diskError(`cannot lock the output ${folder}`, cause)
  }
  throw new ExportError('OUTPUT_LOCKED', `another run keeps taking the lock ${path}`)
}

async function describeSelf(): Promise<Holder> {
  const startedAt = new Date().toISOString()
  return { pid: process.pid, host: hostname(), startedAt, ticks: await startTicks(process.pid) }
}

/** A hard link appears with its content or not at all. */
async function create(path: string, content: string): Promise<boolean> {
  const temporary = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`
  await writeFile(temporary, content)
  try {
    await link(temporary, path)
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw cause
  } finally {
    await unlink(temporary)
  }
}

async function takeOverIfDead(path: string): Promise<void> {
  const content = await readTextIfAny(path)
  if (content === undefined) return
  const holder = parseHolder(content)
  if (holder !== undefined && (await isAlive(holder))) {
    const { pid, host, startedAt } = holder
    throw new ExportError(
      'OUTPUT_LOCKED',
      `process ${pid} on ${host} has been exporting here since ${startedAt}`,
    )
  }
  await setAside(path, content)
}

/** Moves the dead lock away; puts it back if somebody else's new lock was caught instead. */
async function setAside(path: string, content: string): Promise<void> {
  const aside = `${path}.dead.${process.pid}`
  try {
    await rename(path, aside)
  } catch {
    return
  }
  if ((await readFile(aside, 'utf8')) !== content) await link(aside, path).catch(() => undefined)
  await rm(aside, { force: true })
}

function parseHolder(content: string): Holder | undefined {
  try {
    const holder = JSON.parse(content) as Holder
    return Number.isInteger(holder.pid) && holder.pid > 0 ? holder : undefined
  } catch {
    return undefined
  }
}

/** A holder on another host cannot be asked, so it counts as alive. */
async function isAlive({ pid, host, ticks }: Holder): Promise<boolean> {
  if (host !== hostname()) return true
  try {
    process.kill(pid, 0)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  return ticks === null || ticks === (await startTicks(pid))
}

/** Field 22 of /proc/<pid>/stat; null where there is no such file. */
async function startTicks(pid: number): Promise<string | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}

async function release(path: string, mine: string): Promise<void> {
  if ((await readTextIfAny(path)) === mine) await rm(path, { force: true })
}
