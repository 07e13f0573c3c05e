import { constants } from 'node:fs'
import { type FileHandle, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { ExportError } from '../core/model/errors.ts'
import { diskError, PRIVATE_MODE, requireRegularFile } from '../core/platform/disk.ts'
import { requireLock } from '../core/platform/lock/lock.ts'
import { createTemporary } from '../core/platform/temporary-file.ts'

/**
 * An append-only file of frames, each a line of JSON (the head) and a body. A frame counts when both checksums hold;
 * what follows the last whole frame is the trace of a crash and is cut off at the next opening.
 *
 *     WLF1 <crc of the rest of the line, 8 hex> {"bytes":…,"crc":…,…head…}\n<body>\n
 */
export type RecordLog = {
  /** Resolves with the body's place when the operating system has the frame. */
  append(header: object, body: Buffer): Promise<WholeRecordLocation>
  read(location: RecordLocation): Promise<Buffer>
  /** Forces what was appended to the disk. */
  sync(): Promise<void>
  close(): Promise<void>
}

/** Where a stretch of bytes lies in its file: a body, mostly. */
export type RecordLocation = { offset: number; bytes: number }

/** Where a frame's body lies, and where the frame itself begins. */
export type WholeRecordLocation = RecordLocation & { start: number }

export type RecoveryHandlers = {
  /** Called for each whole frame, in order of writing; `false` says that it is none of ours, and so damage. */
  onRecord: (header: Record<string, unknown>, location: WholeRecordLocation) => unknown
  /** Called when bytes had to be given up; `kept` is where the damaged file was set aside, if it was. */
  onDamage: (damage: { bytes: number; savedTo: string | undefined }) => void
}

const SYNC_EVERY_MS = 1_000

/** Neither follows a symbolic link nor waits for the other end of a pipe. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const APPEND_FLAGS =
  constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Opens the log at `path`, made if missing, and tells every frame that is in it. Throws OUTPUT_FAILED. */
export async function openRecordLog(path: string, handlers: RecoveryHandlers): Promise<RecordLog> {
  try {
    const file = await open(path, APPEND_FLAGS, PRIVATE_MODE)
    try {
      await requireRegularFile(file, path)
      return recordLogOn(path, file, await recoverAndTruncate(path, file, handlers))
    } catch (cause) {
      await file.close()
      throw cause
    }
  } catch (cause) {
    throw diskError(`cannot open the checkpoint ${path}`, cause)
  }
}

async function recoverAndTruncate(
  path: string,
  file: FileHandle,
  handlers: RecoveryHandlers,
): Promise<number> {
  const { size } = await file.stat()
  const end = await recoverRecords(file, size, handlers.onRecord)
  if (end < size) await truncateTail({ path, file, end, size }, handlers)
  return end
}

/** Tells the whole frames of a log without changing it; nothing where there is no log. */
export async function scanRecordLog(path: string, onFrame: RecoveryHandlers['onRecord']): Promise<void> {
  let file: FileHandle
  try {
    file = await open(path, READ_FLAGS)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return
    throw diskError(`cannot read the checkpoint ${path}`, cause)
  }
  try {
    await requireRegularFile(file, path)
    await recoverRecords(file, (await file.stat()).size, onFrame)
  } finally {
    await file.close()
  }
}

function recordLogOn(path: string, file: FileHandle, start: number): RecordLog {
  let end = start
  let queue: Promise<unknown> = Promise.resolve()
  let syncedAt = Date.now()
  let pendingBatch: { parts: Buffer[]; written: Promise<void> } | undefined
  const enqueue = <T>(task: () => Promise<T>): Promise<T> => {
    const queued = queue.then(task).catch((cause: unknown) => {
      throw diskError(`cannot write the checkpoint ${path}`, cause)
    })
    queue = queued.catch(() => undefined)
    return queued
  }
  const append = createAppender(path, file, start)
  const write = async (parts: readonly Buffer[]) => {
    await append(parts)
    if (Date.now() - syncedAt < SYNC_EVERY_MS) return
    await file.datasync()
    syncedAt = Date.now()
  }
  /** What comes while another write is under way goes in one. */
  const startBatch = () => {
    const parts: Buffer[] = []
    const written = enqueue(() => {
      pendingBatch = undefined
      return write(parts)
    })
    return { parts, written }
  }
  return {
    append: async (header, body) => {
      const line = headerLine(header, body)
      const location = { start: end, offset: end + line.length, bytes: body.length }
      end = location.offset + body.length + 1
      pendingBatch ??= startBatch()
      pendingBatch.parts.push(line, body, NEWLINE)
      await pendingBatch.written
      return location
    },
    read: (location) => readBody(file, location),
    sync: () => enqueue(() => file.datasync()),
    close: async () => {
      await queue
      await file.close()
    },
  }
}

const NEWLINE = Buffer.from('\n')

const totalBytes = (parts: readonly Buffer[]) => parts.reduce((sum, { length }) => sum + length, 0)

/** Appends to a file of so many bytes. Once a write has failed, all later ones do: the places of their frames would be wrong. */
function createAppender(path: string, file: FileHandle, start: number) {
  let [size, failure]: [number, unknown] = [start, undefined]
  return async (parts: readonly Buffer[]): Promise<void> => {
    if (failure !== undefined) throw failure
    try {
      await requireUnchanged(path, file, size)
      await writeAll(file, parts)
      size += totalBytes(parts)
    } catch (cause) {
      failure = cause
      throw cause
    }
  }
}

/**
 * Throws OUTPUT_LOCKED where another process writes to the log: it has taken over the lock of its folder while this one was
 * suspended, or has appended frames, so that the places of later ones would be wrong.
 */
async function requireUnchanged(path: string, file: FileHandle, expected: number): Promise<void> {
  await requireLock(dirname(path))
  if ((await file.stat()).size === expected) return
  throw new ExportError('OUTPUT_LOCKED', `another process has changed the checkpoint ${path}`, {
    fix: 'Make sure that no other run writes to this output, then run the same command again: it resumes.',
  })
}

async function writeAll(file: FileHandle, parts: readonly Buffer[]): Promise<void> {
  const { bytesWritten } = await file.writev([...parts])
  const unwritten = totalBytes(parts) - bytesWritten
  // A full disk takes a part; asked to take the rest, it says why it does not.
  if (unwritten > 0) await file.appendFile(Buffer.concat(parts).subarray(bytesWritten))
}

function headerLine(header: object, body: Buffer): Buffer {
  const json = JSON.stringify({ bytes: body.length, crc: crc32(body), ...header })
  return Buffer.from(`WLF1 ${crc32(json).toString(16).padStart(8, '0')} ${json}\n`)
}

async function readBody(file: FileHandle, { offset, bytes }: RecordLocation): Promise<Buffer> {
  const body = Buffer.allocUnsafe(bytes)
  const { bytesRead } = await file.read(body, 0, bytes, offset)
  if (bytesRead < bytes) throw diskError('cannot read the checkpoint', new Error('it ends too early'))
  return body
}

const INITIAL_READ_BYTES = 4096

/** Tells every whole frame and gives the offset where they end. */
async function recoverRecords(
  file: FileHandle,
  size: number,
  onFrame: RecoveryHandlers['onRecord'],
): Promise<number> {
  let offset = 0
  while (offset < size) {
    const header = parseHeader(await readLine(file, offset, size))
    if (header === undefined) return offset
    const location = { start: offset, offset: offset + header.length, bytes: header.bytes }
    if (location.offset + location.bytes + 1 > size) return offset
    if (crc32(await readBody(file, location)) !== header.crc) return offset
    if (onFrame(header.fields, location) === false) return offset
    offset = location.offset + location.bytes + 1
  }
  return offset
}

/** The bytes from `at` on, with the first line whole where it is a head: it may be long (one top-up a wallet). */
async function readLine(file: FileHandle, offset: number, size: number): Promise<Buffer> {
  for (let limit = INITIAL_READ_BYTES; ; limit *= 8) {
    const start = await readBody(file, { offset, bytes: Math.min(limit, size - offset) })
    if (start.includes(10) || limit >= size - offset || start.toString('latin1', 0, 5) !== 'WLF1 ')
      return start
  }
}

/** The head of the frame that the bytes begin with, the length of its line included; undefined where there is none. */
export function parseHeader(start: Buffer) {
  const length = start.indexOf(10) + 1
  const [, crc = '', json = ''] =
    /^WLF1 ([0-9a-f]{8}) (\{.*\})\n$/.exec(start.toString('utf8', 0, length)) ?? []
  if (json === '' || crc32(json) !== Number.parseInt(crc, 16)) return undefined
  const fields = JSON.parse(json) as Record<string, unknown>
  const { bytes, crc: bodyCrc } = fields
  return typeof bytes === 'number' && bytes >= 0 ? { length, bytes, crc: bodyCrc, fields } : undefined
}

/** A torn last frame is simply cut; when more is lost than one page could be, the file is kept beside for a look. */
async function truncateTail(
  { path, file, end, size }: { path: string; file: FileHandle; end: number; size: number },
  { onDamage }: RecoveryHandlers,
): Promise<void> {
  const tail = await readBody(file, { offset: end, bytes: size - end })
  const isTorn = !tail.includes('\nWLF1 ')
  const savedTo = isTorn ? undefined : `${path}.damaged`
  if (savedTo !== undefined) {
    const { path: temporary, handle } = await createTemporary(savedTo, PRIVATE_MODE)
    await handle.writeFile(tail)
    await handle.close()
    await rename(temporary, savedTo)
  }
  await file.truncate(end)
  onDamage({ bytes: size - end, savedTo })
}
