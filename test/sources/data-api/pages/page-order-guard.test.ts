import { expect, test } from 'vitest'
import {
  createPageOrderGuard,
  type PageOrderGuard,
} from '../../../../src/sources/data-api/pages/page-order-guard.ts'

type Given = { block: number; second: number; hash: string }

/** An item by its block and second; where no name is given, another one each time. */
let made = 0
const at = (block: number, second: number, hash = `0x${++made}`): Given => ({ block, second, hash })

function showing(order: 'asc' | 'desc', ...pages: readonly (readonly Given[])[]): PageOrderGuard {
  const shown = createPageOrderGuard(order, { from: 0, to: 100 })
  for (const page of pages) shown.add(page)
  return shown
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
])('$what all is left but what lies before the last second', ({ pages, asc, desc }) => {
  expect(showing('asc', ...pages).remainingRange()).toEqual({ from: asc[0], to: asc[1] })
  const back = pages.toReversed().map((page) => page.toReversed())
  expect(showing('desc', ...back).remainingRange()).toEqual({ from: desc[0], to: desc[1] })
})

const old = [at(5, 1), at(7, 2, '0xa'), at(8, 2, '0xb')]

test.for([
  { what: 'goes on', next: [at(9, 2), at(10, 3)], skipped: false, reordered: false },
  { what: 'goes on in a lower block of the second', next: [at(6, 2)], skipped: false, reordered: false },
  { what: 'shows settled blocks again', next: [...old, at(9, 3)], skipped: false, reordered: false },
  { what: 'shows a settled block for the first time', next: [at(4, 1)], skipped: true, reordered: false },
  { what: 'shows an item of the second again', next: [at(8, 2, '0xb')], skipped: false, reordered: true },
])('a page that $what: skipped $skipped, reordered $reordered', ({ next, skipped, reordered }) => {
  const shown = showing('asc', old)
  expect([shown.hasGap(next), shown.isReordered(next)]).toEqual([skipped, reordered])
})

test.for([
  { what: 'the end of the last page again', next: ['0xb', '0xc'], reordered: false },
  { what: 'all of the last page again', next: ['0xa', '0xb', '0xc'], reordered: false },
  { what: 'an earlier item again', next: ['0xa', '0xc'], reordered: true },
  { what: 'the end again, then an earlier item', next: ['0xb', '0xa'], reordered: true },
])('within the very first second a page may show $what: reordered $reordered', ({ next, reordered }) => {
  const shown = showing('asc', [at(7, 2, '0xa'), at(8, 2, '0xb')])
  expect(shown.isReordered(next.map((hash) => at(8, 2, hash)))).toBe(reordered)
})

test('blocks of pages long past count as skipped when they come again', () => {
  const pages = Array.from({ length: 20 }, (_, page) => [at(page, page)])
  const shown = showing('asc', ...pages)
  const again = (page: number) => shown.hasGap(pages[page] ?? [])
  expect([again(0), again(9), again(10), again(19)]).toEqual([true, true, false, false])
})
