import { randomBytes } from 'node:crypto'
import { type FileHandle, lstat, open, readdir, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { isAlive, processTag } from './lock/holder.ts'

/**
 * Milliseconds after which a temporary file of another machine counts as stale, because its process cannot be
 * checked.
 */
const STALE_MS = 3_600_000

/** A file with an unpredictable name in the folder of the file that it will replace. */
export type TemporaryFile = { path: string; handle: FileHandle }

/**
 * Creates a temporary file in the folder of `path`. Another user of that folder cannot predict its name, and
 * the exclusive creation does not follow a symbolic link. `mode` is subject to the umask.
 */
export async function createTemporary(path: string, mode = 0o666): Promise<TemporaryFile> {
  const name = await temporaryPathFor(path)
  return { path: name, handle: await open(name, 'wx', mode) }
}

/** An unused path of a temporary file, for callers that create the file by other means. */
export async function temporaryPathFor(path: string): Promise<string> {
  const { machine, pid, ticks } = await processTag()
  return join(
    dirname(path),
    `.walletlake-${machine}-${pid}-${ticks ?? UNKNOWN}-${randomBytes(8).toString('hex')}.part`,
  )
}

/** Removes temporary files whose processes have ended, and those of other machines after an hour. */
export async function removeStaleTemporaries(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const [, machine, pid, ticks] = NAME.exec(name) ?? []
    if (machine === undefined || !(await isStale(join(folder, name), { machine, pid, ticks }))) continue
    await rm(join(folder, name), { force: true }).catch(() => undefined)
  }
}

/** Whether a file name is that of a temporary file. */
export const isTemporary = (name: string): boolean => NAME.test(name)

/** Machine tag, process id, start time of the process by the kernel, and random digits. */
const NAME = /^\.walletlake-([0-9a-f]{8})-(\d{1,10})-(\d+)-[0-9a-f]{16}\.part$/
/** Start time of a process if the kernel does not provide it. */
const UNKNOWN = '0'

type Creator = { machine: string; pid: string | undefined; ticks: string | undefined }

async function isStale(path: string, { machine, pid, ticks }: Creator): Promise<boolean> {
  const self = await processTag()
  if (machine === self.machine) {
    const creator = { host: hostname(), pid: Number(pid), ticks: ticks === UNKNOWN ? null : (ticks ?? null) }
    return !(await isAlive(creator))
  }
  const entry = await lstat(path).catch(() => undefined)
  return entry !== undefined && Date.now() - entry.mtimeMs > STALE_MS
}
