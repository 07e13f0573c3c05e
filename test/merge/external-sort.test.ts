import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mostOverlap, overlapTooMuch, sortExternally } from '../../src/merge/external-sort.ts'
import type { WalletItem } from '../../src/merge/frame-items.ts'
import { openSource, type SourcePlace } from '../../src/merge/source-place.ts'
import { DEEP } from '../helpers/deep-json.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { merged, pages, placesOf, plainlySorted, walletItem } from './sources.ts'

type Sorting = { file?: string; budgetBytes?: number; pageBytes?: number }

/** Sorts pages; what comes out is told as places, and as what a merge makes of them. */
async function sorted(received: readonly WalletItem[][], { file, budgetBytes, pageBytes }: Sorting) {
  const path = file ?? join(tempFolder(), 'runs')
  const { places, open } = placesOf(received, pageBytes)
  const made = await sortExternally(places, { file: path, open, ...(budgetBytes ? { budgetBytes } : {}) })
  const lines = () =>
    merged(made.map((place) => (place.wallet === null ? openRun(place, path) : open(place))))
  return { places, made, lines }
}

/** A sorted run by its place in the file, as another thread would open it. */
function openRun(place: SourcePlace, path: string) {
  const read = ({ offset, bytes }: SourcePlace) => readFileSync(path).subarray(offset, offset + bytes)
  return openSource(place, { read, range: { from: 0, to: 10_000 }, cutMs: Number.POSITIVE_INFINITY })
}

test('sources within the budget are handed on as they are', async () => {
  const file = join(tempFolder(), 'runs')
  const received = [[walletItem('0xa')], [walletItem('0xb', { block: 2 })]]
  const { places, made } = await sorted(received, { file, budgetBytes: 100 })
  expect(made).toBe(places)
  expect(existsSync(file)).toBe(false)
})

test('a tiny budget merges to the same as no budget', async () => {
  const file = join(tempFolder(), 'runs')
  await fc.assert(
    fc.asyncProperty(pages, fc.integer({ min: 1, max: 2_000 }), async (received, budgetBytes) => {
      const { lines } = await sorted(received, { file, budgetBytes })
      expect(lines()).toEqual(plainlySorted(received))
    }),
    { numRuns: 200 },
  )
})

test('the last view received wins across groups of sorted runs', async () => {
  const received = [
    [walletItem('0xa', { block: 5, mark: 1 })],
    [walletItem('0xa', { block: 2 }), walletItem('0xa', { block: 5, mark: 2 })],
  ]
  const { made, lines } = await sorted(received, { budgetBytes: 100 })
  expect(made.map(({ wallet }) => wallet)).not.toContain('0xa')
  expect(lines()).toEqual(['2.0 0xa=0', '5.0 0xa=2'])
})

test.for(DEEP)('an item with a value of $what goes through a run as it is', async ({ text }) => {
  const file = join(tempFolder(), 'runs')
  const deep = { ...walletItem('0xa'), item: { deep: JSON.parse(text) as unknown } }
  const { made } = await sorted([[deep], [walletItem('0xb')]], { file, budgetBytes: 100 })
  expect(made.map(({ wallet }) => wallet)).toEqual([null, null])
  expect(readFileSync(file, 'utf8').includes(text)).toBe(true)
})

const manyWallets = Array.from({ length: 40 }, (_, at) => `0x${String(at).padStart(2, '0')}`)
const overlapping = manyWallets.map((wallet) => [1, 50, 100].map((block) => walletItem(wallet, { block })))

test('many wallets over the same blocks overlap less once sorted', async () => {
  const { made, lines } = await sorted(overlapping, { pageBytes: 1_000, budgetBytes: 8_000 })
  expect(mostOverlap(made)).toBeLessThanOrEqual(8_000)
  expect(lines()).toEqual(plainlySorted(overlapping))
})

test('runs that still overlap too much are sorted again', async () => {
  const received = Array.from({ length: 300 }, (_, wallet) =>
    Array.from({ length: 30 }, (_, at) => walletItem(`0x${wallet}`, { block: 300 * at + wallet })),
  )
  const { made, lines } = await sorted(received, { pageBytes: 30_000, budgetBytes: 30_000 })
  expect(made[0]?.offset).toBeGreaterThan(600_000)
  expect(mostOverlap(made)).toBeLessThanOrEqual(30_000)
  expect(lines()).toEqual(plainlySorted(received))
})

test('runs of an earlier call stay readable after the next', async () => {
  const file = join(tempFolder(), 'runs')
  const [early, late] = [overlapping.slice(0, 20), overlapping.slice(20)]
  const first = await sorted(early, { file, pageBytes: 1_000, budgetBytes: 4_000 })
  const second = await sorted(late, { file, pageBytes: 1_000, budgetBytes: 4_000 })
  expect(first.lines()).toEqual(plainlySorted(early))
  expect(second.lines()).toEqual(plainlySorted(late))
})

test('pages of one place are sorted first from 4 MB on', () => {
  const place = { block: 1, index: 0, hash: '' }
  const two = (bytes: number): SourcePlace[] =>
    ['0xa', '0xb'].map((wallet) => ({ wallet, offset: 0, bytes, span: { first: place, last: place } }))
  expect(overlapTooMuch(two(2_000_000))).toBe(false)
  expect(overlapTooMuch(two(2_000_001))).toBe(true)
})
