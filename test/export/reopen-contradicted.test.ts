import { expect, test } from 'vitest'
import { countBlocks, unionRanges } from '../../src/core/model/block-ranges.ts'
import { UNBOUNDED } from '../../src/core/model/listings.ts'
import type { BlockRange } from '../../src/core/model/model.ts'
import { createReopener } from '../../src/export/reopen-contradicted.ts'
import type { Contradiction } from '../../src/transform/write-batch.ts'
import { testJob } from '../helpers/jobs.ts'

/** A reopener with a checkpoint that records the reopened blocks. */
function openReopener(listings = { '0xa': UNBOUNDED, '0xb': UNBOUNDED }) {
  const ranges = new Map<string, readonly BlockRange[]>()
  const notices: string[] = []
  const reopened = (listing: string) => ranges.get(listing) ?? []
  const reopen = createReopener({
    job: testJob({ addresses: [] }),
    listings: new Map(Object.entries(listings)),
    checkpoint: {
      reopened,
      reopen: async (listing, range) => void ranges.set(listing, unionRanges([...reopened(listing), range])),
    },
    onNotice: (notice) => notices.push(notice),
  })
  const reopenFor = (contradictions: readonly Contradiction[]) =>
    reopen({ contradictions, contradicted: contradictions.length })
  return { ranges, notices, reopenFor }
}

const contradiction = (block: number, seenAt = block): Contradiction => ({
  hash: `0x${block}`,
  block,
  views: [
    { wallet: '0xa', block },
    { wallet: '0xb', block: seenAt },
  ],
})

test('the blocks of a contradicted transaction are reopened for every wallet with a view of it', async () => {
  const { ranges, reopenFor } = openReopener()
  expect(await reopenFor([contradiction(7, 9)])).toBe(true)
  expect(ranges.get('0xa')).toEqual([{ from: 7, to: 8 }])
  expect(ranges.get('0xb')).toEqual([
    { from: 7, to: 8 },
    { from: 9, to: 10 },
  ])
})

test('a block of a wallet is reopened only once', async () => {
  const { notices, reopenFor } = openReopener()
  expect(await reopenFor([contradiction(7)])).toBe(true)
  expect(await reopenFor([contradiction(7)])).toBe(false)
  expect(notices.at(-1)).toContain('1 transaction differs between wallets even when read again')
})

test('blocks outside the bounds of a listing are not reopened', async () => {
  const { ranges, reopenFor } = openReopener({ '0xa': UNBOUNDED, '0xb': { from: 0, to: 7 } })
  await reopenFor([contradiction(7)])
  expect([...ranges.keys()]).toEqual(['0xa'])
})

test('at most 1,000 blocks are reopened, the lowest first', async () => {
  const { ranges, reopenFor } = openReopener()
  const many = Array.from({ length: 600 }, (_, at) => contradiction(2 * at))
  expect(await reopenFor(many)).toBe(true)
  expect([...ranges.values()].map((all) => [countBlocks(all), all.at(-1)?.from])).toEqual([
    [500, 998],
    [500, 998],
  ])
  expect(await reopenFor(many)).toBe(false)
})
