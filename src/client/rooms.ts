/** Memory for bodies of answers, which is used again: new memory for each would lie about in pieces for long. */
export type Rooms = {
  /** The chunks as one body. */
  join(chunks: readonly Buffer[]): Buffer
  /** Takes the memory of a body back that nobody uses any more; memory that is none of these rooms is left alone. */
  giveBack(body: Buffer): void
}

/** Bytes of a room: pages of a hundred items have 70 to 350 KB. What a body leaves of it is not touched, and so costs nothing. */
export const ROOM_BYTES = 2 ** 19
/** Bodies of fewer bytes have memory of their own. */
const SMALL_BYTES = 2 ** 15
/** So many rooms are kept free at most. */
const MOST_FREE = 32

export function openRooms(): Rooms {
  const free = new Set<ArrayBufferLike>()
  const take = () => {
    const [room] = free
    if (room === undefined) return Buffer.allocUnsafeSlow(ROOM_BYTES)
    free.delete(room)
    return Buffer.from(room)
  }
  return {
    join: (chunks) => {
      const bytes = chunks.reduce((sum, { length }) => sum + length, 0)
      if (bytes < SMALL_BYTES || bytes > ROOM_BYTES) return Buffer.concat(chunks, bytes)
      const room = take()
      let end = 0
      for (const chunk of chunks) end += chunk.copy(room, end)
      return room.subarray(0, end)
    },
    giveBack: ({ buffer }) => {
      if (buffer.byteLength === ROOM_BYTES && free.size < MOST_FREE) free.add(buffer)
    },
  }
}
