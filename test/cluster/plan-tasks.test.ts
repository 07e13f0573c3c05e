import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Covered,
  mergeStarts,
  type PartitionStarts,
  planReads,
  planRemaining,
  planWrites,
  planWritesAt,
  type ReadTask,
  recordStarts,
} from '../../src/cluster/tasks.ts'
import type { BlockRange } from '../../src/core/model/model.ts'

type Holdings = Map<number, Set<number>>

/** The blocks of each wallet that the given ranges cover. */
function blocksIn(covered: readonly Covered[]): Holdings {
  const held: Holdings = new Map()
  for (const { first, end, from, to, reached } of covered)
    for (let wallet = first; wallet < end; wallet += 1) {
      const blocks = held.get(wallet) ?? new Set()
      for (let block = from; block < (wallet === end - 1 ? reached : to); block += 1) blocks.add(block)
      held.set(wallet, blocks)
    }
  return held
}

/** The same range for each of `wallets` wallets. */
const same = (wallets: number, range: BlockRange) => Array.from({ length: wallets }, () => range)

const asCovered = (task: ReadTask): Covered => ({ ...task, reached: task.to })

describe('the plan of read tasks', () => {
  test('contains every block of every wallet exactly once', () => {
    const range = { from: 3, to: 20 }
    const tasks = planReads(same(60, range), [])
    const held = blocksIn(tasks.map(asCovered))
    expect(held.size).toBe(60)
    for (const blocks of held.values()) expect(blocks.size).toBe(17)
    expect(tasks.reduce((sum, { first, end }) => sum + (end - first) * 17, 0)).toBe(60 * 17)
  })

  test('groups many wallets and gives few wallets one task each', () => {
    const range = { from: 0, to: 9 }
    expect(planReads(same(12, range), [])).toHaveLength(12)
    expect(planReads(same(100_000, range), [])).toHaveLength(4_000)
  })

  test('is empty only if nothing is missing, whatever was stopped, split or lost', () => {
    const runs = fc.array(
      fc.record({
        pick: fc.nat(),
        stop: fc.nat(),
        pages: fc.integer({ min: 1, max: 400 }),
        isLost: fc.boolean(),
      }),
      { maxLength: 60 },
    )
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 240 }),
        fc.integer({ min: 1, max: 30 }),
        runs,
        (wallets, blocks, steps) => {
          const whole = same(wallets, { from: 5, to: 5 + blocks })
          const record: Covered[] = []
          let queue = planReads(whole, record)
          for (const { pick, stop, pages, isLost } of steps) {
            const [task] = queue.splice(pick % Math.max(1, queue.length), 1)
            if (task === undefined) break
            const end = task.first + 1 + (stop % (task.end - task.first))
            const reached = task.from + 1 + (stop % (task.to - task.from))
            const covered = { ...task, end, reached: end === task.end ? reached : task.to }
            record.push(covered)
            if (!isLost) queue.push(...planRemaining(task, covered, pages))
          }
          queue = planReads(whole, record)
          const held = blocksIn([...record, ...queue.map(asCovered)])
          expect(held.size).toBe(wallets)
          for (const set of held.values()) expect(set.size).toBe(blocks)
          const left = queue.reduce((sum, { first, end, from, to }) => sum + (end - first) * (to - from), 0)
          const had = [...blocksIn(record).values()].reduce((sum, { size }) => sum + size, 0)
          expect(left).toBe(wallets * blocks - had)
        },
      ),
    )
  })
})

test('a removed wallet is read up to the block of the previous export', () => {
  const tasks = planReads(
    [
      { from: 0, to: 90 },
      { from: 0, to: 40 },
    ],
    [],
  )
  expect(tasks.map(({ first, end, to }) => [first, end, to])).toEqual([
    [0, 1, 90],
    [1, 2, 40],
  ])
})

describe('the remaining tasks of a task that stopped early', () => {
  const task: ReadTask = { kind: 'read', first: 4, end: 8, from: 100, to: 1_100 }

  test('are the rest of its last wallet, in ranges, and the wallets after it', () => {
    const rest = planRemaining(task, { ...task, end: 6, reached: 300 }, 50)
    expect(rest.at(-1)).toEqual({ ...task, first: 6 })
    const own = rest.slice(0, -1)
    expect(own).toHaveLength(4)
    expect(own[0]).toMatchObject({ first: 5, end: 6, from: 300 })
    expect(own.at(-1)).toMatchObject({ to: 1_100 })
  })

  test('are none if all of it was read', () => {
    expect(planRemaining(task, { ...task, reached: 1_100 }, 50)).toEqual([])
  })
})

describe('the partitions of a range', () => {
  test('are counted from block 0 and clipped to the range', () => {
    expect(planWrites({ from: 150, to: 320 }, 100)).toEqual([
      { kind: 'write', from: 150, to: 200 },
      { kind: 'write', from: 200, to: 300 },
      { kind: 'write', from: 300, to: 320 },
    ])
  })
})

describe('partitions by time', () => {
  const at = (block: number, day: string) => ({ block, timeMs: Date.parse(`${day}T12:00:00Z`) })

  test('start at the first of their blocks in any page', () => {
    const [one, other]: [PartitionStarts, PartitionStarts] = [{}, {}]
    recordStarts(one, [at(10, '2024-01-01'), at(30, '2024-01-02'), at(50, '2024-02-01')], 'day')
    recordStarts(other, [at(25, '2024-01-02'), at(55, '2024-02-01')], 'day')
    expect(mergeStarts([one, other])).toEqual([25, 50])
    expect(planWritesAt({ from: 0, to: 60 }, [25, 50]).map(({ from, to }) => [from, to])).toEqual([
      [0, 25],
      [25, 50],
      [50, 60],
    ])
  })

  test('are a single one if the pages contain nothing', () => {
    expect(planWritesAt({ from: 5, to: 60 }, mergeStarts([{}]))).toEqual([{ kind: 'write', from: 5, to: 60 }])
  })
})
