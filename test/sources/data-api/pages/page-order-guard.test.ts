import { expect, test } from 'vitest'
import {
  createPageOrderGuard,
  type PageOrderGuard,
} from '../../../../src/sources/data-api/pages/page-guards.ts'

type Given = { block: number; second: number; hash: string }

/** An item with this block and second. Without a hash, it gets a new one. */
let created = 0
const at = (block: number, second: number, hash = `0x${++created}`): Given => ({ block, second, hash })

function guardAfter(order: 'asc' | 'desc', ...pages: readonly (readonly Given[])[]): PageOrderGuard {
  const guard = createPageOrderGuard(order, { from: 0, to: 100 })
  for (const page of pages) guard.add(page)
  return guard
}

test.for([
  { what: 'before the first page', pages: [], asc: [0, 100], desc: [0, 100] },
  { what: 'after a page without items', pages: [[]], asc: [0, 100], desc: [0, 100] },
  { what: 'after one second', pages: [[at(5, 1), at(9, 1)]], asc: [0, 100], desc: [0, 100] },
  { what: 'after two', pages: [[at(5, 1), at(9, 2), at(7, 2)]], asc: [6, 100], desc: [0, 7] },
  {
    what: 'after a second in two pages',
    pages: [[at(5, 1), at(9, 1)], [at(6, 1)], [at(20, 2)]],
    asc: [10, 100],
    desc: [0, 20],
  },
  {
    what: 'after a block that its time contradicts',
    pages: [[at(5, 1), at(80, 2), at(6, 3), at(9, 4)]],
    asc: [7, 100],
    desc: [0, 6],
  },
])('$what everything from the last second on remains', ({ pages, asc, desc }) => {
  expect(guardAfter('asc', ...pages).remainingRange()).toEqual({ from: asc[0], to: asc[1] })
  const back = pages.toReversed().map((page) => page.toReversed())
  expect(guardAfter('desc', ...back).remainingRange()).toEqual({ from: desc[0], to: desc[1] })
})

const old = [at(5, 1), at(7, 2, '0xa'), at(8, 2, '0xb')]

test.for([
  { what: 'continues', next: [at(9, 2), at(10, 3)], skipped: false, reordered: false },
  { what: 'continues in a lower block of the second', next: [at(6, 2)], skipped: false, reordered: false },
  { what: 'repeats complete blocks', next: [...old, at(9, 3)], skipped: false, reordered: false },
  { what: 'contains a new block among complete ones', next: [at(4, 1)], skipped: true, reordered: false },
  { what: 'repeats an item of the second', next: [at(8, 2, '0xb')], skipped: false, reordered: true },
])('a page that $what: gap $skipped, reordered $reordered', ({ next, skipped, reordered }) => {
  const guard = guardAfter('asc', old)
  expect([guard.hasGap(next), guard.isReordered(next)]).toEqual([skipped, reordered])
})

test.for([
  { what: 'the end of the last page again', next: ['0xb', '0xc'], reordered: false },
  { what: 'all of the last page again', next: ['0xa', '0xb', '0xc'], reordered: false },
  { what: 'an earlier item again', next: ['0xa', '0xc'], reordered: true },
  { what: 'the end again, then an earlier item', next: ['0xb', '0xa'], reordered: true },
])('within the first second, a page with $what: reordered $reordered', ({ next, reordered }) => {
  const guard = guardAfter('asc', [at(7, 2, '0xa'), at(8, 2, '0xb')])
  expect(guard.isReordered(next.map((hash) => at(8, 2, hash)))).toBe(reordered)
})

test('blocks of old pages count as skipped when they are repeated', () => {
  const pages = Array.from({ length: 20 }, (_, page) => [at(page, page)])
  const guard = guardAfter('asc', ...pages)
  const again = (page: number) => guard.hasGap(pages[page] ?? [])
  expect([again(0), again(9), again(10), again(19)]).toEqual([true, true, false, false])
})
