import { createHash } from 'node:crypto'
import { readFile, readlink } from 'node:fs/promises'
import { hostname } from 'node:os'

/** The process that holds a lock. */
export type Holder = {
  pid: number
  host: string
  /** Time of locking, ISO 8601. */
  startedAt: string
  /**
   * Start time of the process by the kernel, which distinguishes it from a later process with the same id;
   * null if unknown.
   */
  ticks: string | null
  /** Result of `machineId`; null if unknown; absent in locks of earlier versions. */
  machine?: string | null
}

/** Describes this process as a holder. */
export async function describeProcess(): Promise<Holder> {
  const startedAt = new Date().toISOString()
  const ticks = (await readProcessStat(process.pid))?.ticks ?? null
  return { pid: process.pid, host: hostname(), startedAt, ticks, machine: (await machineId()) ?? null }
}

let cachedTag: Promise<{ machine: string; pid: number; ticks: string | null }> | undefined

/**
 * Identifies this process in file names: a short hash of its machine, its process id, and its start time by
 * the kernel.
 */
export function processTag(): Promise<{ machine: string; pid: number; ticks: string | null }> {
  cachedTag ??= describeProcess().then(({ pid, host, ticks, machine }) => {
    const hash = createHash('sha256').update(`${host} ${machine}`).digest('hex')
    return { machine: hash.slice(0, 8), pid, ticks }
  })
  return cachedTag
}

/**
 * Distinguishes machines and containers with the same host name, by the kernel's boot id and the PID
 * namespace. Undefined if the system does not provide them.
 */
export async function machineId(): Promise<string | undefined> {
  try {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8')
    return `${boot.trim()} ${await readlink('/proc/self/ns/pid')}`
  } catch {
    return undefined
  }
}

/** Maximum length of the name of a host, and of a longer time. Both are printed, and other programs can write them. */
const MAX_NAME_LENGTH = 255

/** Parses the content of a lock; undefined if it is not valid. */
export function parseHolder(content: string): Holder | undefined {
  try {
    const { pid, host, startedAt, ticks, machine } = JSON.parse(content) as Record<keyof Holder, unknown>
    if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0 || pid >= 2 ** 31) return undefined
    if (typeof host !== 'string' || typeof startedAt !== 'string') return undefined
    const printed = { host: host.slice(0, MAX_NAME_LENGTH), startedAt: startedAt.slice(0, MAX_NAME_LENGTH) }
    const holder = { pid, ...printed, ticks: typeof ticks === 'string' ? ticks : null }
    return machine === undefined
      ? holder
      : { ...holder, machine: typeof machine === 'string' ? machine : null }
  } catch {
    return undefined
  }
}

/**
 * Whether a holder runs on this machine, so that the system knows whether it is alive. Containers may share
 * host names, so the boot id and the PID namespace decide; outside Linux, which alone has these, the host
 * name does.
 */
export async function isOfThisMachine({ host, machine }: Holder): Promise<boolean> {
  if (host !== hostname()) return false
  if (machine === undefined) return true
  if (machine === null && process.platform !== 'linux') return true
  return machine !== null && machine === (await machineId())
}

/**
 * Whether a holder is alive. A holder on another host cannot be checked and counts as alive; a zombie does
 * not.
 */
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

/** Whether a process with this id exists on this host, whoever owns it. */
export function processExists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** Fields 3 (state) and 22 (start time) of /proc/<pid>/stat; undefined if there is no such file. */
async function readProcessStat(pid: number): Promise<{ state: string; ticks: string | null } | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0] ?? '', ticks: fields[19] ?? null }
  } catch {
    return undefined
  }
}
