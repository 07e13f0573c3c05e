import { describe, expect, it } from 'vitest'
import { createBufferPool, POOLED_BUFFER_BYTES } from '../../src/http/buffer-pool.ts'

const chunk = (bytes: number, letter: string) => Buffer.alloc(bytes, letter)

describe('memory of bodies', () => {
  it('joins chunks to one body, however large', () => {
    const memory = createBufferPool()
    for (const bytes of [0, 1, 20_000, 100_000, POOLED_BUFFER_BYTES / 2, POOLED_BUFFER_BYTES]) {
      const chunks = [chunk(bytes, 'a'), chunk(bytes, 'b'), chunk(7, 'c')]
      expect(memory.join(chunks).equals(Buffer.concat(chunks)), `${bytes} bytes`).toBe(true)
    }
    expect(memory.join([])).toHaveLength(0)
  })

  it('has a body come in memory that was given back', () => {
    const memory = createBufferPool()
    const first = memory.join([chunk(100_000, 'a')])
    memory.release(first)
    const second = memory.join([chunk(90_000, 'b')])
    expect(second.buffer).toBe(first.buffer)
    expect(second.equals(chunk(90_000, 'b'))).toBe(true)
  })

  it('never holds two bodies, though it is given back twice', () => {
    const memory = createBufferPool()
    const body = memory.join([chunk(100_000, 'a')])
    memory.release(body)
    memory.release(body)
    const [one, other] = [memory.join([chunk(100_000, 'b')]), memory.join([chunk(100_000, 'c')])]
    expect(one.buffer).not.toBe(other.buffer)
    expect(one.equals(chunk(100_000, 'b'))).toBe(true)
  })

  it('leaves memory alone that came from elsewhere', () => {
    const memory = createBufferPool()
    const others = [Buffer.from('text'), chunk(POOLED_BUFFER_BYTES + 1, 'a'), memory.join([chunk(9, 'b')])]
    for (const body of others) memory.release(body)
    const body = memory.join([chunk(100_000, 'c')])
    expect(others.map(({ buffer }) => buffer)).not.toContain(body.buffer)
  })

  it('keeps that of a bounded number free', () => {
    const memory = createBufferPool()
    const bodies = Array.from({ length: 40 }, () => memory.join([chunk(100_000, 'a')]))
    for (const body of bodies) memory.release(body)
    const again = Array.from({ length: 40 }, () => memory.join([chunk(100_000, 'b')]).buffer)
    const known = new Set(bodies.map(({ buffer }) => buffer))
    expect(again.filter((buffer) => known.has(buffer))).toHaveLength(32)
  })
})
