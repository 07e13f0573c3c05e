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
}

export async function describeSelf(): Promise<Holder> {
  const startedAt = new Date().toISOString()
  const ticks = (await statusOf(process.pid))?.ticks ?? null
  return { pid: process.pid, host: hostname(), startedAt, ticks }
}

/**
 * What tells this machine from others that bear its name, as containers do: the start of its kernel, and whose process numbers
 * it sees. Undefined where the system does not tell.
 */
export async function nameMachine(): Promise<string | undefined> {
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
    const { pid, host, startedAt, ticks } = JSON.parse(content) as Record<keyof Holder, unknown>
    if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0 || pid >= 2 ** 31) return undefined
    if (typeof host !== 'string' || typeof startedAt !== 'string') return undefined
    return { pid, host, startedAt, ticks: typeof ticks === 'string' ? ticks : null }
  } catch {
    return undefined
  }
}

/** A holder on another host cannot be asked, so it counts as alive; a zombie does not. */
export async function isAlive({
  pid,
  host,
  ticks,
}: Pick<Holder, 'pid' | 'host' | 'ticks'>): Promise<boolean> {
  if (host !== hostname()) return true
  if (!isThere(pid)) return false
  const status = await statusOf(pid)
  if (status === undefined) return true
  return !'ZX'.includes(status.state) && (ticks === null || ticks === status.ticks)
}

/** True where a process of that number exists on this host, ours or not. */
export function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** Fields 3 and 22 of /proc/<pid>/stat; undefined where there is no such file. */
async function statusOf(pid: number): Promise<{ state: string; ticks: string | null } | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0] ?? '', ticks: fields[19] ?? null }
  } catch {
    return undefined
  }
}
