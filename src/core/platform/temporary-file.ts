import { randomBytes } from 'node:crypto'
import { type FileHandle, lstat, open, readdir, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { isAlive, processTag } from './lock/holder.ts'

/** Age from which a temporary file of another machine, whose processes cannot be asked, counts as left over. */
const STALE_MS = 3_600_000

/** A file under a name that no one can guess, beside the file that it is to become. */
export type TemporaryFile = { path: string; handle: FileHandle }

/**
 * Creates a temporary file in the folder of `path`. Another user of that folder can neither predict the name nor have a symbolic
 * link followed: the file must not exist. `mode` is subject to the umask.
 */
export async function createTemporary(path: string, mode = 0o666): Promise<TemporaryFile> {
  const name = await temporaryPathFor(path)
  return { path: name, handle: await open(name, 'wx', mode) }
}

/** The name alone, for whoever creates the file by other means; it does not exist yet. */
export async function temporaryPathFor(path: string): Promise<string> {
  const { machine, pid, ticks } = await processTag()
  return join(
    dirname(path),
    `.walletlake-${machine}-${pid}-${ticks ?? UNKNOWN}-${randomBytes(8).toString('hex')}.part`,
  )
}

/** Removes the temporary files in a folder whose processes have ended, and those of other machines after an hour. */
export async function removeStaleTemporaries(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const [, machine, pid, ticks] = NAME.exec(name) ?? []
    if (machine === undefined || !(await isStale(join(folder, name), { machine, pid, ticks }))) continue
    await rm(join(folder, name), { force: true }).catch(() => undefined)
  }
}

/** Whether a name is that of a temporary file. */
export const isTemporary = (name: string): boolean => NAME.test(name)

/** The machine's tag, the process number, its start by the kernel's clock, and random digits. */
const NAME = /^\.walletlake-([0-9a-f]{8})-(\d{1,10})-(\d+)-[0-9a-f]{16}\.part$/
/** The start of a process where the kernel does not say it. */
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
