import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { diskFix, ExportError } from '../model/errors.ts'
import { isAlive, processTag } from './lock/holder.ts'

/**
 * Creates an empty temporary folder for this process. Also removes folders of the same purpose whose
 * processes on this machine have ended, and those of other machines or containers with the same host name
 * after a week. The owner is part of the folder's name, because a process can be killed before it writes
 * anything into it. The caller removes the folder. Throws OUTPUT_FAILED.
 */
export async function createScratchFolder(purpose: string, parent: string = tmpdir()): Promise<string> {
  const host = hostname()
  const prefix = `walletlake-${purpose}-${encodeURIComponent(host)}-`
  const { machine, pid, ticks } = await processTag()
  for (const name of await readdir(parent).catch(() => [])) {
    const [, creator = '', creatorPid = '', creatorTicks = ''] =
      (name.startsWith(prefix) && /^([0-9a-f]{8})-(\d+)-(\d+)-\w{6}$/.exec(name.slice(prefix.length))) || []
    if (creator === '') continue
    const holder = { host, pid: Number(creatorPid), ticks: creatorTicks === UNKNOWN ? null : creatorTicks }
    const isUsed = creator === machine ? await isAlive(holder) : !(await isStale(join(parent, name)))
    if (!isUsed) await rm(join(parent, name), { recursive: true, force: true }).catch(() => undefined)
  }
  return mkdtemp(join(parent, `${prefix}${machine}-${pid}-${ticks ?? UNKNOWN}-`)).catch((cause: unknown) => {
    throw scratchError(parent, cause)
  })
}

/** Start time of a process in a folder name, if the kernel does not provide it. */
const UNKNOWN = '0'

const STALE_MS = 7 * 86_400_000

async function isStale(path: string): Promise<boolean> {
  const entry = await lstat(path).catch(() => undefined)
  return entry !== undefined && Date.now() - entry.mtimeMs > STALE_MS
}

/** Error for a temporary folder that cannot be used. */
function scratchError(folder: string, cause: unknown): ExportError {
  const { code, message } = cause as NodeJS.ErrnoException
  return new ExportError('OUTPUT_FAILED', `cannot use the temporary folder ${folder}: ${code ?? message}`, {
    cause,
    fix: code === 'EMFILE' || code === 'ENFILE' ? diskFix(code) : SCRATCH_FIX,
  })
}

/**
 * Converts an error to OUTPUT_FAILED if the temporary folder is full or too many files are open; undefined
 * for other errors. Also matches the messages of DuckDB, whose errors have no codes.
 */
export function toScratchError(error: unknown, scratch: string): ExportError | undefined {
  if (error instanceof ExportError) return undefined
  const { code = '', message = '' } = error as NodeJS.ErrnoException
  const text = `${code} ${message}`
  if (TOO_MANY_FILES.test(text)) return scratchError(scratch, Object.assign(new Error(), { code: 'EMFILE' }))
  if (!IS_FULL.test(text)) return undefined
  return new ExportError('OUTPUT_FAILED', `the temporary folder ${scratch} is full`, {
    cause: error,
    fix: SCRATCH_FIX,
  })
}

const TOO_MANY_FILES = /\bE[MN]FILE\b|too many open files/i
const IS_FULL =
  /\b(ENOSPC|EDQUOT|EFBIG)\b|no space left|quota exceeded|file too large|failed to offload|max_temp_directory_size/i

export const SCRATCH_FIX = 'Set TMPDIR to a folder that exists, may be written to and has enough free space.'
