import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { diskFix, ExportError } from '../model/errors.ts'
import { isAlive, processTag } from './lock/holder.ts'

/**
 * Makes an empty folder for this process under a temporary one, and removes those of the same use that killed processes of
 * this machine have left, and those of other machines or containers of the same name after a week. Its name says whose it is, as
 * a process can be killed before it writes anything into it. Whoever asked for it removes it in the end. Throws OUTPUT_FAILED.
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

/** In a name, the start of a process where the kernel does not say it. */
const UNKNOWN = '0'

const STALE_MS = 7 * 86_400_000

async function isStale(path: string): Promise<boolean> {
  const entry = await lstat(path).catch(() => undefined)
  return entry !== undefined && Date.now() - entry.mtimeMs > STALE_MS
}

/** A temporary folder that cannot be used as OUTPUT_FAILED. */
function scratchError(folder: string, cause: unknown): ExportError {
  const { code, message } = cause as NodeJS.ErrnoException
  return new ExportError('OUTPUT_FAILED', `cannot use the temporary folder ${folder}: ${code ?? message}`, {
    cause,
    fix: code === 'EMFILE' || code === 'ENFILE' ? diskFix(code) : SCRATCH_FIX,
  })
}

/**
 * The fault as OUTPUT_FAILED where a temporary folder is full, or too few files may be open; undefined where it is another one.
 * Foreign messages are looked at, too: DuckDB has no codes.
 */
export function toScratchError(thrown: unknown, scratch: string): ExportError | undefined {
  if (thrown instanceof ExportError) return undefined
  const { code = '', message = '' } = thrown as NodeJS.ErrnoException
  const text = `${code} ${message}`
  if (TOO_MANY_FILES.test(text)) return scratchError(scratch, Object.assign(new Error(), { code: 'EMFILE' }))
  if (!IS_FULL.test(text)) return undefined
  return new ExportError('OUTPUT_FAILED', `the temporary folder ${scratch} is full`, {
    cause: thrown,
    fix: SCRATCH_FIX,
  })
}

const TOO_MANY_FILES = /\bE[MN]FILE\b|too many open files/i
const IS_FULL =
  /\b(ENOSPC|EDQUOT|EFBIG)\b|no space left|quota exceeded|file too large|failed to offload|max_temp_directory_size/i

export const SCRATCH_FIX = 'Set TMPDIR to a folder that exists, may be written to and has enough free space.'
