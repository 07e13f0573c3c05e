/** Memory for bodies of answers, which is used again: new memory for each would lie about in pieces for long. */
export type BufferPool = {
  /** The chunks as one body. */
  join(chunks: readonly Buffer[]): Buffer
  /** Takes back the memory of a body that nobody uses any more; memory that came from elsewhere is left alone. */
  release(body: Buffer): void
}

/** So much memory is taken for a body: pages of a hundred items have 70 to 350 KB. What a body leaves of it is not touched. */
export const POOLED_BUFFER_BYTES = 2 ** 19
/** Bodies of fewer bytes get just what they need, and so do those that are larger than all others. */
const MIN_POOLED_BYTES = 2 ** 15
/** The memory of so many bodies is kept free at most. */
const MAX_FREE_BUFFERS = 32

export function createBufferPool(): BufferPool {
  const free = new Set<ArrayBufferLike>()
  const acquireBuffer = () => {
    const [buffer] = free
    if (buffer === undefined) return Buffer.allocUnsafeSlow(POOLED_BUFFER_BYTES)
    free.delete(buffer)
    return Buffer.from(buffer)
  }
  return {
    join: (chunks) => {
      const bytes = chunks.reduce((sum, { length }) => sum + length, 0)
      if (bytes < MIN_POOLED_BYTES || bytes > POOLED_BUFFER_BYTES) return Buffer.concat(chunks, bytes)
      const body = acquireBuffer()
      let end = 0
      for (const chunk of chunks) end += chunk.copy(body, end)
      return body.subarray(0, end)
    },
    release: ({ buffer }) => {
      if (isPooledBuffer(buffer) && free.size < MAX_FREE_BUFFERS) free.add(buffer)
    },
  }
}

/** Whether a body came in memory that is used again: it holds nothing beside that body. */
export const isPooledBuffer = (buffer: ArrayBufferLike): boolean => buffer.byteLength === POOLED_BUFFER_BYTES
