import { describe, expect, it } from 'vitest'
import { openRooms, ROOM_BYTES } from '../../src/client/rooms.ts'

const chunk = (bytes: number, letter: string) => Buffer.alloc(bytes, letter)

describe('rooms', () => {
  it('join chunks to one body, however large', () => {
    const rooms = openRooms()
    for (const bytes of [0, 1, 20_000, 100_000, ROOM_BYTES / 2, ROOM_BYTES]) {
      const chunks = [chunk(bytes, 'a'), chunk(bytes, 'b'), chunk(7, 'c')]
      expect(rooms.join(chunks).equals(Buffer.concat(chunks)), `${bytes} bytes`).toBe(true)
    }
    expect(rooms.join([])).toHaveLength(0)
  })

  it('have a body come in memory that was given back', () => {
    const rooms = openRooms()
    const first = rooms.join([chunk(100_000, 'a')])
    rooms.giveBack(first)
    const second = rooms.join([chunk(90_000, 'b')])
    expect(second.buffer).toBe(first.buffer)
    expect(second.equals(chunk(90_000, 'b'))).toBe(true)
  })

  it('never have two bodies in one memory, though it is given back twice', () => {
    const rooms = openRooms()
    const body = rooms.join([chunk(100_000, 'a')])
    rooms.giveBack(body)
    rooms.giveBack(body)
    const [one, other] = [rooms.join([chunk(100_000, 'b')]), rooms.join([chunk(100_000, 'c')])]
    expect(one.buffer).not.toBe(other.buffer)
    expect(one.equals(chunk(100_000, 'b'))).toBe(true)
  })

  it('leave memory alone that is none of theirs', () => {
    const rooms = openRooms()
    const others = [Buffer.from('text'), chunk(ROOM_BYTES + 1, 'a'), rooms.join([chunk(9, 'b')])]
    for (const body of others) rooms.giveBack(body)
    const body = rooms.join([chunk(100_000, 'c')])
    expect(others.map(({ buffer }) => buffer)).not.toContain(body.buffer)
  })

  it('keep a bounded number free', () => {
    const rooms = openRooms()
    const bodies = Array.from({ length: 40 }, () => rooms.join([chunk(100_000, 'a')]))
    for (const body of bodies) rooms.giveBack(body)
    const again = Array.from({ length: 40 }, () => rooms.join([chunk(100_000, 'b')]).buffer)
    const known = new Set(bodies.map(({ buffer }) => buffer))
    expect(again.filter((buffer) => known.has(buffer))).toHaveLength(32)
  })
})
