import { createHash } from 'node:crypto'
import { readFile, readlink } from 'node:fs/promises'
import { hostname } from 'node:os'

/** Who holds an output. */
export type Holder = {
  pid: number
  host: string
  /** When the run began, ISO time. */
  startedAt: string
  /** The kernel's start time of the process, to tell it from a later one of the same number; null where unknown. */
  ticks: string | null
  /** What `machineId` gave; null where the system does not say it; absent in locks of earlier versions. */
  machine?: string | null
}

/** This process as the holder of something. */
export async function describeProcess(): Promise<Holder> {
  const startedAt = new Date().toISOString()
  const ticks = (await readProcessStat(process.pid))?.ticks ?? null
  return { pid: process.pid, host: hostname(), startedAt, ticks, machine: (await machineId()) ?? null }
}

let cachedTag: Promise<{ machine: string; pid: number; ticks: string | null }> | undefined

/** This process in names of files: a short tag of its machine, its number, and its start by the kernel's clock. */
export function processTag(): Promise<{ machine: string; pid: number; ticks: string | null }> {
  cachedTag ??= describeProcess().then(({ pid, host, ticks, machine }) => {
    const hash = createHash('sha256').update(`${host} ${machine}`).digest('hex')
    return { machine: hash.slice(0, 8), pid, ticks }
  })
  return cachedTag
}

/**
 * What tells this machine from others that bear its name, as containers do: the start of its kernel, and whose process numbers
 * it sees. Undefined where the system does not tell.
 */
export async function machineId(): Promise<string | undefined> {
  try {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8')
    return `${boot.trim()} ${await readlink('/proc/self/ns/pid')}`
  } catch {
    return undefined
  }
}

/** What a lock's text says of its holder; undefined where it is none. */
export function parseHolder(content: string): Holder | undefined {
  try {
    const { pid, host, startedAt, ticks, machine } = JSON.parse(content) as Record<keyof Holder, unknown>
    if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0 || pid >= 2 ** 31) return undefined
    if (typeof host !== 'string' || typeof startedAt !== 'string') return undefined
    const holder = { pid, host, startedAt, ticks: typeof ticks === 'string' ? ticks : null }
    return machine === undefined
      ? holder
      : { ...holder, machine: typeof machine === 'string' ? machine : null }
  } catch {
    return undefined
  }
}

/**
 * Whether a holder is a process of this machine, so that the system says whether it lives. Containers share host names: the
 * kernel's start and the PID namespace decide. Elsewhere than on Linux, which has neither, the host name does.
 */
export async function isOfThisMachine({ host, machine }: Holder): Promise<boolean> {
  if (host !== hostname()) return false
  if (machine === undefined) return true
  if (machine === null && process.platform !== 'linux') return true
  return machine !== null && machine === (await machineId())
}

/** A holder on another host cannot be asked, so it counts as alive; a zombie does not. */
export async function isAlive({
  pid,
  host,
  ticks,
}: Pick<Holder, 'pid' | 'host' | 'ticks'>): Promise<boolean> {
  if (host !== hostname()) return true
  if (!processExists(pid)) return false
  const status = await readProcessStat(pid)
  if (status === undefined) return true
  return !'ZX'.includes(status.state) && (ticks === null || ticks === status.ticks)
}

/** True where a process of that number exists on this host, ours or not. */
export function processExists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** Fields 3 and 22 of /proc/<pid>/stat; undefined where there is no such file. */
async function readProcessStat(pid: number): Promise<{ state: string; ticks: string | null } | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0] ?? '', ticks: fields[19] ?? null }
  } catch {
    return undefined
  }
}
