import { constants } from 'node:fs'
import { type FileHandle, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { ExportError } from '../core/model/errors.ts'
import { diskError, PRIVATE_MODE, requireRegular } from '../core/platform/disk.ts'
import { requireLock } from '../core/platform/lock/lock.ts'
import { createTemporary } from '../core/platform/temporary-file.ts'

/**
 * An append-only file of frames, each a line of JSON (the head) and a body. A frame counts when both checksums hold;
 * what follows the last whole frame is the trace of a crash and is cut off at the next opening.
 *
 *     WLF1 <crc of the rest of the line, 8 hex> {"bytes":…,"crc":…,…head…}\n<body>\n
 */
export type FrameLog = {
  /** Resolves with the body's place when the operating system has the frame. */
  append(head: object, body: Buffer): Promise<WholePlace>
  read(place: FramePlace): Promise<Buffer>
  /** Forces what was appended to the disk. */
  sync(): Promise<void>
  close(): Promise<void>
}

/** Where a stretch of bytes lies in its file: a body, mostly. */
export type FramePlace = { offset: number; bytes: number }

/** Where a frame's body lies, and where the frame itself begins. */
export type WholePlace = FramePlace & { start: number }

export type Recovered = {
  /** Called for each whole frame, in order of writing; `false` says that it is none of ours, and so damage. */
  onFrame: (head: Record<string, unknown>, place: WholePlace) => unknown
  /** Called when bytes had to be given up; `kept` is where the damaged file was set aside, if it was. */
  onDamage: (damage: { bytes: number; kept: string | undefined }) => void
}

const SYNC_EVERY_MS = 1_000

/** Neither follows a symbolic link nor waits for the other end of a pipe. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const APPEND =
  constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Opens the log at `path`, made if missing, and tells every frame that is in it. Throws OUTPUT_FAILED. */
export async function openFrameLog(path: string, recovered: Recovered): Promise<FrameLog> {
  try {
    const file = await open(path, APPEND, PRIVATE_MODE)
    try {
      await requireRegular(file, path)
      return frameLogOn(path, file, await recover(path, file, recovered))
    } catch (cause) {
      await file.close()
      throw cause
    }
  } catch (cause) {
    throw diskError(`cannot open the checkpoint ${path}`, cause)
  }
}

async function recover(path: string, file: FileHandle, recovered: Recovered): Promise<number> {
  const { size } = await file.stat()
  const end = await recoverFrames(file, size, recovered.onFrame)
  if (end < size) await cutOff({ path, file, end, size }, recovered)
  return end
}

/** Tells the whole frames of a log without changing it; nothing where there is no log. */
export async function scanFrameLog(path: string, onFrame: Recovered['onFrame']): Promise<void> {
  let file: FileHandle
  try {
    file = await open(path, READ)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return
    throw diskError(`cannot read the checkpoint ${path}`, cause)
  }
  try {
    await requireRegular(file, path)
    await recoverFrames(file, (await file.stat()).size, onFrame)
  } finally {
    await file.close()
  }
}

function frameLogOn(path: string, file: FileHandle, start: number): FrameLog {
  let end = start
  let queue: Promise<unknown> = Promise.resolve()
  let synced = Date.now()
  let gathered: { parts: Buffer[]; written: Promise<void> } | undefined
  const inTurn = <T>(task: () => Promise<T>): Promise<T> => {
    const turn = queue.then(task).catch((cause: unknown) => {
      throw diskError(`cannot write the checkpoint ${path}`, cause)
    })
    queue = turn.catch(() => undefined)
    return turn
  }
  const append = appenderOf(path, file, start)
  const write = async (parts: readonly Buffer[]) => {
    await append(parts)
    if (Date.now() - synced < SYNC_EVERY_MS) return
    await file.datasync()
    synced = Date.now()
  }
  /** What comes while another write is under way goes in one. */
  const gather = () => {
    const parts: Buffer[] = []
    const written = inTurn(() => {
      gathered = undefined
      return write(parts)
    })
    return { parts, written }
  }
  return {
    append: async (head, body) => {
      const line = headLine(head, body)
      const place = { start: end, offset: end + line.length, bytes: body.length }
      end = place.offset + body.length + 1
      gathered ??= gather()
      gathered.parts.push(line, body, NEWLINE)
      await gathered.written
      return place
    },
    read: (place) => readBody(file, place),
    sync: () => inTurn(() => file.datasync()),
    close: async () => {
      await queue
      await file.close()
    },
  }
}

const NEWLINE = Buffer.from('\n')

const sizeOf = (parts: readonly Buffer[]) => parts.reduce((sum, { length }) => sum + length, 0)

/** Appends to a file of so many bytes. Once a write has failed, all later ones do: the places of their frames would be wrong. */
function appenderOf(path: string, file: FileHandle, start: number) {
  let [size, failure]: [number, unknown] = [start, undefined]
  return async (parts: readonly Buffer[]): Promise<void> => {
    if (failure !== undefined) throw failure
    try {
      await requireSole(path, file, size)
      await writeWhole(file, parts)
      size += sizeOf(parts)
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
async function requireSole(path: string, file: FileHandle, expected: number): Promise<void> {
  await requireLock(dirname(path))
  if ((await file.stat()).size === expected) return
  throw new ExportError('OUTPUT_LOCKED', `another process has changed the checkpoint ${path}`, {
    fix: 'Make sure that no other run writes to this output, then run the same command again: it resumes.',
  })
}

async function writeWhole(file: FileHandle, parts: readonly Buffer[]): Promise<void> {
  const { bytesWritten } = await file.writev([...parts])
  const left = sizeOf(parts) - bytesWritten
  // A full disk takes a part; asked to take the rest, it says why it does not.
  if (left > 0) await file.appendFile(Buffer.concat(parts).subarray(bytesWritten))
}

function headLine(head: object, body: Buffer): Buffer {
  const json = JSON.stringify({ bytes: body.length, crc: crc32(body), ...head })
  return Buffer.from(`WLF1 ${crc32(json).toString(16).padStart(8, '0')} ${json}\n`)
}

async function readBody(file: FileHandle, { offset, bytes }: FramePlace): Promise<Buffer> {
  const body = Buffer.allocUnsafe(bytes)
  const { bytesRead } = await file.read(body, 0, bytes, offset)
  if (bytesRead < bytes) throw diskError('cannot read the checkpoint', new Error('it ends too early'))
  return body
}

const USUAL_HEAD_BYTES = 4096

/** Tells every whole frame and gives the offset where they end. */
async function recoverFrames(file: FileHandle, size: number, onFrame: Recovered['onFrame']): Promise<number> {
  let at = 0
  while (at < size) {
    const head = parseHead(await readLine(file, at, size))
    if (head === undefined) return at
    const place = { start: at, offset: at + head.length, bytes: head.bytes }
    if (place.offset + place.bytes + 1 > size) return at
    if (crc32(await readBody(file, place)) !== head.crc) return at
    if (onFrame(head.fields, place) === false) return at
    at = place.offset + place.bytes + 1
  }
  return at
}

/** The bytes from `at` on, with the first line whole where it is a head: it may be long (one top-up a wallet). */
async function readLine(file: FileHandle, at: number, size: number): Promise<Buffer> {
  for (let limit = USUAL_HEAD_BYTES; ; limit *= 8) {
    const start = await readBody(file, { offset: at, bytes: Math.min(limit, size - at) })
    if (start.includes(10) || limit >= size - at || start.toString('latin1', 0, 5) !== 'WLF1 ') return start
  }
}

/** The head of the frame that the bytes begin with, the length of its line included; undefined where there is none. */
export function parseHead(start: Buffer) {
  const length = start.indexOf(10) + 1
  const [, crc = '', json = ''] =
    /^WLF1 ([0-9a-f]{8}) (\{.*\})\n$/.exec(start.toString('utf8', 0, length)) ?? []
  if (json === '' || crc32(json) !== Number.parseInt(crc, 16)) return undefined
  const fields = JSON.parse(json) as Record<string, unknown>
  const { bytes, crc: bodyCrc } = fields
  return typeof bytes === 'number' && bytes >= 0 ? { length, bytes, crc: bodyCrc, fields } : undefined
}

/** A torn last frame is simply cut; when more is lost than one page could be, the file is kept beside for a look. */
async function cutOff(
  { path, file, end, size }: { path: string; file: FileHandle; end: number; size: number },
  { onDamage }: Recovered,
): Promise<void> {
  const tail = await readBody(file, { offset: end, bytes: size - end })
  const torn = !tail.includes('\nWLF1 ')
  const kept = torn ? undefined : `${path}.damaged`
  if (kept !== undefined) {
    const { path: temporary, handle } = await createTemporary(kept, PRIVATE_MODE)
    await handle.writeFile(tail)
    await handle.close()
    await rename(temporary, kept)
  }
  await file.truncate(end)
  onDamage({ bytes: size - end, kept })
}
