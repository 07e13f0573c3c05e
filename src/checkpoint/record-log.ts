import { constants, fstatSync } from 'node:fs'
import { type FileHandle, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { ExportError } from '../core/model/errors.ts'
import { diskError, PRIVATE_MODE, requireRegularFile } from '../core/platform/disk.ts'
import { requireLock } from '../core/platform/lock/lock.ts'
import { createTemporary } from '../core/platform/temporary-file.ts'
import { ANY_RECORD_START, headersIn, parseHeader, RECORD_START } from './record-header.ts'

/**
 * An append-only log of records. A record is a line of JSON (the header) and a body. It is valid if both
 * CRC-32 checksums match. Bytes after the last valid record are left over from a crash and are truncated when
 * the log is opened.
 *
 *     WLF2 <CRC-32 of the JSON, 8 hex digits> {"bytes":…,"crc":…,…}\n<body>\n
 */
export type RecordLog = {
  /** Appends a record. Resolves with its location once it is written (not necessarily synced) to the file. */
  append(header: object, body: Buffer): Promise<WholeRecordLocation>
  read(location: RecordLocation): Promise<Buffer>
  /** Flushes all appended records to disk (fdatasync). */
  sync(): Promise<void>
  close(): Promise<void>
}

/** Location of a byte range in its file, usually the body of a record. */
export type RecordLocation = { offset: number; bytes: number }

/** Location of a record's body. `start` is the offset of the record itself. */
export type WholeRecordLocation = RecordLocation & { start: number }

export type RecoveryHandlers = {
  /** Called for each valid record, in order. Return `false` to treat it and everything after it as damage. */
  onRecord: (header: Record<string, unknown>, location: WholeRecordLocation) => unknown
  onDamage: (damage: LogDamage) => void
}

/** Bytes that were truncated because a record was damaged. */
export type LogDamage = {
  bytes: number
  /** The intact headers of the damaged record and those after it. */
  headers: readonly Record<string, unknown>[]
  /** The file to which the bytes were copied, if any. */
  savedTo: string | undefined
}

const SYNC_EVERY_MS = 1_000

/** O_NOFOLLOW refuses symbolic links. O_NONBLOCK keeps `open` from waiting for the other end of a FIFO. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const APPEND_FLAGS =
  constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Opens or creates the log at `path` and passes every valid record to `onRecord`. Throws OUTPUT_FAILED. */
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

/** Passes every valid record of a log to `onRecord`, without changing the log. The log may be missing. */
export async function scanRecordLog(path: string, onRecord: RecoveryHandlers['onRecord']): Promise<void> {
  let file: FileHandle
  try {
    file = await open(path, READ_FLAGS)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return
    throw diskError(`cannot read the checkpoint ${path}`, cause)
  }
  try {
    await requireRegularFile(file, path)
    await recoverRecords(file, (await file.stat()).size, onRecord)
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
  /** Group commit: records that arrive during a write are written together in the next one. */
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

/** After a failed write, all later writes fail too, because the offsets of their records would be wrong. */
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
 * Throws OUTPUT_LOCKED if another process writes to the log: it has taken over the lock of the folder while
 * this process was suspended, or has appended records, so that the offsets of later records would be wrong.
 */
async function requireUnchanged(path: string, file: FileHandle, expected: number): Promise<void> {
  await requireLock(dirname(path))
  if (fstatSync(file.fd).size === expected) return
  throw new ExportError('OUTPUT_LOCKED', `another process has changed the checkpoint ${path}`, {
    fix: 'Make sure that no other run writes to this output, then run the same command again: it resumes.',
  })
}

async function writeAll(file: FileHandle, parts: readonly Buffer[]): Promise<void> {
  const { bytesWritten } = await file.writev([...parts])
  const unwritten = totalBytes(parts) - bytesWritten
  // A full disk causes a short write without an error. Writing the rest then fails with the reason (ENOSPC).
  if (unwritten > 0) await file.appendFile(Buffer.concat(parts).subarray(bytesWritten))
}

function headerLine(header: object, body: Buffer): Buffer {
  const json = JSON.stringify({ bytes: body.length, crc: crc32(body), ...header })
  return Buffer.from(`${RECORD_START}${crc32(json).toString(16).padStart(8, '0')} ${json}\n`)
}

async function readBody(file: FileHandle, { offset, bytes }: RecordLocation): Promise<Buffer> {
  const body = Buffer.allocUnsafe(bytes)
  const { bytesRead } = await file.read(body, 0, bytes, offset)
  if (bytesRead < bytes) throw diskError('cannot read the checkpoint', new Error('unexpected end of file'))
  return body
}

const INITIAL_READ_BYTES = 4096

/** Passes every valid record to `onRecord` and returns the offset at which the valid records end. */
async function recoverRecords(
  file: FileHandle,
  size: number,
  onRecord: RecoveryHandlers['onRecord'],
): Promise<number> {
  let offset = 0
  while (offset < size) {
    const header = parseHeader(await readLine(file, offset, size))
    if (header === undefined) return offset
    const location = { start: offset, offset: offset + header.length, bytes: header.bytes }
    if (location.offset + location.bytes + 1 > size) return offset
    if (crc32(await readBody(file, location)) !== header.crc) return offset
    if (onRecord(header.fields, location) === false) return offset
    offset = location.offset + location.bytes + 1
  }
  return offset
}

/** Reads from `offset` on. A header that begins there is read completely; it is long if it lists wallets. */
async function readLine(file: FileHandle, offset: number, size: number): Promise<Buffer> {
  for (let limit = INITIAL_READ_BYTES; ; limit *= 8) {
    const start = await readBody(file, { offset, bytes: Math.min(limit, size - offset) })
    if (start.includes(10) || limit >= size - offset || start.indexOf(ANY_RECORD_START) !== 0) return start
  }
}

/** Truncates the invalid tail. If it is more than one torn record, it is first saved to `<path>.damaged`. */
async function truncateTail(
  { path, file, end, size }: { path: string; file: FileHandle; end: number; size: number },
  { onDamage }: RecoveryHandlers,
): Promise<void> {
  const tail = await readBody(file, { offset: end, bytes: size - end })
  const isTorn = !tail.includes(`\n${ANY_RECORD_START}`)
  const savedTo = isTorn ? undefined : `${path}.damaged`
  if (savedTo !== undefined) {
    const { path: temporary, handle } = await createTemporary(savedTo, PRIVATE_MODE)
    await handle.writeFile(tail)
    await handle.close()
    await rename(temporary, savedTo)
  }
  await file.truncate(end)
  onDamage({ bytes: size - end, headers: headersIn(tail), savedTo })
}
