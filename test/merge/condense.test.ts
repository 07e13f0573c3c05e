import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { condense } from '../../src/merge/condense.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { merged, pages, plainlySorted, sourceOf, walletItem } from './sources.ts'

test('sources within the budget are handed on as they are', async () => {
  const sources = [sourceOf([walletItem('0xa')]), sourceOf([walletItem('0xb', { block: 2 })])]
  const condensed = await condense(sources, { file: join(tempFolder(), 'runs'), budgetBytes: 100 })
  expect(condensed.sources).toBe(sources)
  await condensed.close()
})

test('a tiny budget merges to the same as no budget', async () => {
  const file = join(tempFolder(), 'runs')
  await fc.assert(
    fc.asyncProperty(pages, fc.integer({ min: 1, max: 2_000 }), async (received, budgetBytes) => {
      const condensed = await condense(
        received.map((page) => sourceOf(page)),
        { file, budgetBytes },
      )
      const lines = await merged(condensed.sources)
      await condensed.close()
      expect(lines).toEqual(plainlySorted(received))
    }),
    { numRuns: 300 },
  )
})

test('the last view received wins across groups of sorted runs', async () => {
  const early = sourceOf([walletItem('0xa', { block: 5, mark: 1 })])
  const late = sourceOf([walletItem('0xa', { block: 2 }), walletItem('0xa', { block: 5, mark: 2 })])
  const condensed = await condense([early, late], { file: join(tempFolder(), 'runs'), budgetBytes: 100 })
  expect(condensed.sources).not.toContain(early)
  expect(await merged(condensed.sources)).toEqual(['2.0 0xa=0', '5.0 0xa=2'])
  await condensed.close()
})

test('many wallets over the same blocks overlap less once condensed', async () => {
  const wallets = Array.from({ length: 40 }, (_, at) => `0x${String(at).padStart(2, '0')}`)
  const received = wallets.map((wallet) => [1, 50, 100].map((block) => walletItem(wallet, { block })))
  const condensed = await condense(
    received.map((page) => sourceOf(page, 1_000)),
    { file: join(tempFolder(), 'runs'), budgetBytes: 8_000 },
  )
  const atOnce = condensed.sources.filter(
    ({ span }) => span !== null && span.first.block <= 25 && span.last.block >= 25,
  )
  expect(atOnce.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(8_000)
  expect(await merged(condensed.sources)).toEqual(plainlySorted(received))
  await condensed.close()
})
