import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createReadPlan } from '../../../src/export/fetch/read-plan.ts'
import { dataApi } from '../../../src/sources/data-api/data-api.ts'
import { seeded, simulate } from './simulate.ts'

const even = (items: number) => Array.from({ length: items }, (_, at) => at)
const SEEDS = [1, 2, 3, 4, 5]

/** Activity in bursts: block ranges with very different densities. */
function bursty(items: number, random: () => number): number[] {
  const weights = Array.from({ length: 60 }, () => -Math.log(1 - random()))
  const sum = weights.reduce((a, b) => a + b, 0)
  let total = 0
  return weights.flatMap((weight, burst) => {
    const [from, to] = [total, total + weight].map((at) => Math.round((at / sum) * items)) as [number, number]
    total += weight
    return Array.from({ length: to - from }, (_, at) => Math.floor((burst + at / (to - from)) * items))
  })
}

test.for(SEEDS)('16 readers read one wallet at least 14 times as fast as one, seed %i', (seed) => {
  const read = simulate({ histories: [even(60_000)], end: 60_000, readers: 16, random: seeded(seed) })
  expect(read).toMatchObject({ missing: 0, isComplete: true, most: 16 })
  expect((600 * 120) / read.timeMs).toBeGreaterThan(14)
  expect(read.requests / 600).toBeLessThan(1.015)
})

test.for(SEEDS)('bursts of activity cost little time and few extra requests, seed %i', (seed) => {
  const histories = [bursty(60_000, seeded(seed * 77))]
  const read = simulate({ histories, end: 10_000_000, readers: 16, random: seeded(seed) })
  expect(read).toMatchObject({ missing: 0, isComplete: true })
  expect((600 * 120) / read.timeMs).toBeGreaterThan(12)
  expect(read.requests / 600).toBeLessThan(1.03)
})

test('many wallets of different sizes keep all readers busy until the end', () => {
  const sizes = Array.from({ length: 200 }, (_, at) => Math.round((4_000 * (at + 1)) / 200))
  const histories = sizes.map((size) => even(size))
  const read = simulate({ histories, end: 4_000, readers: 32, random: seeded(9) })
  expect(read).toMatchObject({ missing: 0, isComplete: true, most: 32 })
  expect((read.requests * 120) / 32 / read.timeMs).toBeGreaterThan(0.9)
})

test.for([0, 1, 99, 100])('a wallet of %i transactions costs one request', (size) => {
  const read = simulate({ histories: [even(size)], end: 1_000, readers: 16, random: seeded(1) })
  expect(read).toMatchObject({ requests: 1, missing: 0, isComplete: true })
})

test('small histories cost no extra requests, whatever the number of readers', () => {
  const sizes = [1_700, 900, 800, 300, 150, 100, 20, 1]
  const histories = sizes.map((size) => even(size))
  const pages = sizes.reduce((sum, size) => sum + Math.ceil(size / 100), 0)
  const read = simulate({ histories, end: 2_000, readers: 64, random: seeded(3) })
  expect(read).toMatchObject({ requests: pages, missing: 0, isComplete: true })
})

test('every item is received by some reader, whatever the history', () => {
  const history = fc.array(fc.nat(300), { maxLength: 2_500 }).map((blocks) => blocks.sort((a, b) => a - b))
  const given = fc.record({
    histories: fc.array(history, { minLength: 1, maxLength: 4 }),
    readers: fc.integer({ min: 1, max: 40 }),
    end: fc.constantFrom(301, 1_000, 999_999_999_999),
    order: fc.constantFrom('asc', 'desc'),
    seed: fc.nat(1_000),
  })
  fc.assert(
    fc.property(given, ({ seed, ...rest }) => {
      expect(simulate({ ...rest, random: seeded(seed) })).toMatchObject({ missing: 0, isComplete: true })
    }),
    { numRuns: 60 },
  )
})

test('a plan without ranges is complete immediately', () => {
  const plan = createReadPlan([], dataApi)
  expect(plan.assign()).toBeUndefined()
  expect(plan.isComplete()).toBe(true)
})

/** Items of a wallet, one in every tenth block. */
const evenly = (pages: number) => Array.from({ length: pages * 100 }, (_, n) => n * 10)
const times = (count: number, pages: number) => Array.from({ length: count }, () => pages)

test.for([
  { what: '90 pages by one reader', sizes: [90], readers: 16, requests: 90, seconds: 10.8 },
  { what: '150 pages by 16 readers', sizes: [150], readers: 16, requests: 155, seconds: 1.5 },
  { what: '300 pages by four readers', sizes: [300], readers: 4, requests: 301, seconds: 9.3 },
  { what: '400 pages by 64 readers', sizes: [400], readers: 64, requests: 419, seconds: 1.1 },
  { what: '500 pages by fifty readers', sizes: [500], readers: 50, requests: 519, seconds: 2.0 },
  { what: '1,000 pages by 400 readers', sizes: [1_000], readers: 400, requests: 1027, seconds: 1.3 },
  { what: 'wallets of ten pages', sizes: times(12, 10), readers: 32, requests: 120, seconds: 1.3 },
  { what: 'forty wallets of ten pages', sizes: times(40, 10), readers: 64, requests: 400, seconds: 1.4 },
  {
    what: 'wallets of all sizes',
    sizes: [200, 40, 30, 20, 10, 5, 3],
    readers: 48,
    requests: 329,
    seconds: 1.4,
  },
])('reading $what takes $requests requests and $seconds seconds', ({ sizes, readers, requests, seconds }) => {
  const histories = sizes.map(evenly)
  const end = 10 * Math.max(...histories.map(({ length }) => length))
  const read = simulate({ histories, end, readers, random: seeded(1) })
  expect(`${read.requests} in ${(read.timeMs / 1000).toFixed(1)} s`).toBe(
    `${requests} in ${seconds.toFixed(1)} s`,
  )
})
