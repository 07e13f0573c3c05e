/** Memory for bodies of answers, which is used again: new memory for each would lie about in pieces for long. */
export type BodyMemory = {
  /** The chunks as one body. */
  join(chunks: readonly Buffer[]): Buffer
  /** Takes back the memory of a body that nobody uses any more; memory that came from elsewhere is left alone. */
  giveBack(body: Buffer): void
}

/** So much memory is taken for a body: pages of a hundred items have 70 to 350 KB. What a body leaves of it is not touched. */
export const BODY_BYTES = 2 ** 19
/** Bodies of fewer bytes get just what they need, and so do those that are larger than all others. */
const SMALL_BYTES = 2 ** 15
/** The memory of so many bodies is kept free at most. */
const MOST_FREE = 32

export function openBodyMemory(): BodyMemory {
  const free = new Set<ArrayBufferLike>()
  const take = () => {
    const [memory] = free
    if (memory === undefined) return Buffer.allocUnsafeSlow(BODY_BYTES)
    free.delete(memory)
    return Buffer.from(memory)
  }
  return {
    join: (chunks) => {
      const bytes = chunks.reduce((sum, { length }) => sum + length, 0)
      if (bytes < SMALL_BYTES || bytes > BODY_BYTES) return Buffer.concat(chunks, bytes)
      const body = take()
      let end = 0
      for (const chunk of chunks) end += chunk.copy(body, end)
      return body.subarray(0, end)
    },
    giveBack: ({ buffer }) => {
      if (isForBodies(buffer) && free.size < MOST_FREE) free.add(buffer)
    },
  }
}

/** Whether a body came in memory that is used again: it holds nothing beside that body. */
export const isForBodies = (memory: ArrayBufferLike): boolean => memory.byteLength === BODY_BYTES
