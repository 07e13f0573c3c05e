/** Reuses the memory of response bodies. Allocating a buffer for each response would fragment the heap. */
export type BufferPool = {
  /** Concatenates the chunks of a body. */
  join(chunks: readonly Buffer[]): Buffer
  /**
   * Returns a body's buffer to the pool. The caller must not use it afterwards. Buffers that the pool did not
   * allocate are ignored.
   */
  release(body: Buffer): void
}

/**
 * Size of a pooled buffer, in bytes. A page of 100 items has 70 to 350 KB. The unused rest of a buffer is
 * never touched, so it takes no physical memory.
 */
export const POOLED_BUFFER_BYTES = 2 ** 19
/** Smaller bodies, and those larger than a pooled buffer, get a buffer of exactly their size. */
const MIN_POOLED_BYTES = 2 ** 15
/** Maximum number of free buffers in the pool. */
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

/** Whether a buffer is from the pool. Such a buffer holds one body and nothing else. */
export const isPooledBuffer = (buffer: ArrayBufferLike): boolean => buffer.byteLength === POOLED_BUFFER_BYTES
