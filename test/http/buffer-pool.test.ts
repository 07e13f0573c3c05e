import { describe, expect, it } from 'vitest'
import { createBufferPool, POOLED_BUFFER_BYTES } from '../../src/http/body.ts'

const chunk = (bytes: number, letter: string) => Buffer.alloc(bytes, letter)

describe('buffer pool', () => {
  it('joins chunks of any size into one body', () => {
    const pool = createBufferPool()
    for (const bytes of [0, 1, 20_000, 100_000, POOLED_BUFFER_BYTES / 2, POOLED_BUFFER_BYTES]) {
      const chunks = [chunk(bytes, 'a'), chunk(bytes, 'b'), chunk(7, 'c')]
      expect(pool.join(chunks).equals(Buffer.concat(chunks)), `${bytes} bytes`).toBe(true)
    }
    expect(pool.join([])).toHaveLength(0)
  })

  it('reuses the buffer of a released body', () => {
    const pool = createBufferPool()
    const first = pool.join([chunk(100_000, 'a')])
    pool.release(first)
    const second = pool.join([chunk(90_000, 'b')])
    expect(second.buffer).toBe(first.buffer)
    expect(second.equals(chunk(90_000, 'b'))).toBe(true)
  })

  it('never hands out a buffer twice, even if it was released twice', () => {
    const pool = createBufferPool()
    const body = pool.join([chunk(100_000, 'a')])
    pool.release(body)
    pool.release(body)
    const [one, other] = [pool.join([chunk(100_000, 'b')]), pool.join([chunk(100_000, 'c')])]
    expect(one.buffer).not.toBe(other.buffer)
    expect(one.equals(chunk(100_000, 'b'))).toBe(true)
  })

  it('ignores buffers that it did not allocate', () => {
    const pool = createBufferPool()
    const others = [Buffer.from('text'), chunk(POOLED_BUFFER_BYTES + 1, 'a'), pool.join([chunk(9, 'b')])]
    for (const body of others) pool.release(body)
    const body = pool.join([chunk(100_000, 'c')])
    expect(others.map(({ buffer }) => buffer)).not.toContain(body.buffer)
  })

  it('keeps a limited number of free buffers', () => {
    const pool = createBufferPool()
    const bodies = Array.from({ length: 40 }, () => pool.join([chunk(100_000, 'a')]))
    for (const body of bodies) pool.release(body)
    const again = Array.from({ length: 40 }, () => pool.join([chunk(100_000, 'b')]).buffer)
    const known = new Set(bodies.map(({ buffer }) => buffer))
    expect(again.filter((buffer) => known.has(buffer))).toHaveLength(32)
  })
})
