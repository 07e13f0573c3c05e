import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergeItems } from '../../../src/transform/merge/merge-items.ts'
import { merged, pages, sortedLines, sourceOf, walletItem } from './sources.ts'

test('merging overlapping pages gives the same result as sorting all items', () => {
  fc.assert(
    fc.property(pages, (received) => {
      expect(merged(received.map(sourceOf))).toEqual(sortedLines(received))
    }),
    { numRuns: 300 },
  )
})

test('the views of one transaction are grouped and sorted by wallet', () => {
  const sources = [
    sourceOf([walletItem('0xb')]),
    sourceOf([walletItem('0xc')]),
    sourceOf([walletItem('0xa')]),
  ]
  expect(merged(sources)).toEqual(['1.0 0xa=0 0xb=0 0xc=0'])
})

test('if an item was received twice, the last one wins', () => {
  const early = sourceOf([walletItem('0xa', { block: 5, mark: 1 })])
  const late = sourceOf([walletItem('0xa', { block: 2 }), walletItem('0xa', { block: 5, mark: 2 })])
  expect(merged([early, late])).toEqual(['2.0 0xa=0', '5.0 0xa=2'])
  expect(merged([late, early])).toEqual(['2.0 0xa=0', '5.0 0xa=1'])
})

test('two transactions with the same position are sorted by hash', () => {
  const [first, second] = [walletItem('0xa'), walletItem('0xa')]
  first.key.hash = '0x2'
  second.key.hash = '0x1'
  first.item = { mark: 2 }
  second.item = { mark: 1 }
  expect(merged([sourceOf([first, second])])).toEqual(['1.0 0xa=1', '1.0 0xa=2'])
})

test('no sources and empty sources yield nothing', () => {
  expect(merged([])).toEqual([])
  expect(merged([sourceOf([]), sourceOf([])])).toEqual([])
})

test('a source is loaded only when the merge reaches its first block', () => {
  const loads: number[] = []
  const sources = [30, 10, 20].map((block) => {
    const source = sourceOf([walletItem('0xa', { block })])
    const load = () => {
      loads.push(block)
      return source.load()
    }
    return { ...source, load }
  })
  const merging = mergeItems(sources)
  merging.next()
  expect(loads).not.toContain(30)
  while (merging.next().done !== true);
  expect(loads).toEqual([10, 20, 30])
})
