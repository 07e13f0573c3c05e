import { expect, test } from 'vitest'
import { countBlocks, unionRanges } from '../../src/core/model/block-ranges.ts'
import { UNBOUNDED } from '../../src/core/model/listings.ts'
import type { BlockRange } from '../../src/core/model/model.ts'
import { createReopener } from '../../src/export/reopen-contradicted.ts'
import type { Contradiction } from '../../src/transform/write-batch.ts'
import { testJob } from '../helpers/jobs.ts'

/** A reopener over a checkpoint that notes what is to be read again. */
function opened(listings = { '0xa': UNBOUNDED, '0xb': UNBOUNDED }) {
  const again = new Map<string, readonly BlockRange[]>()
  const notices: string[] = []
  const reopened = (listing: string) => again.get(listing) ?? []
  const reopen = createReopener({
    job: testJob({ addresses: [] }),
    listings: new Map(Object.entries(listings)),
    checkpoint: {
      reopened,
      reopen: async (listing, range) => void again.set(listing, unionRanges([...reopened(listing), range])),
    },
    onNotice: (notice) => notices.push(notice),
  })
  const ask = (contradictions: readonly Contradiction[]) =>
    reopen({ contradictions, contradicted: contradictions.length })
  return { again, notices, ask }
}

const contradiction = (block: number, seenAt = block): Contradiction => ({
  hash: `0x${block}`,
  block,
  views: [
    { wallet: '0xa', block },
    { wallet: '0xb', block: seenAt },
  ],
})

test('blocks of a contradicted transaction are read again for every wallet that shows it', async () => {
  const { again, ask } = opened()
  expect(await ask([contradiction(7, 9)])).toBe(true)
  expect(again.get('0xa')).toEqual([{ from: 7, to: 8 }])
  expect(again.get('0xb')).toEqual([
    { from: 7, to: 8 },
    { from: 9, to: 10 },
  ])
})

test('a block of a wallet is read again once', async () => {
  const { notices, ask } = opened()
  expect(await ask([contradiction(7)])).toBe(true)
  expect(await ask([contradiction(7)])).toBe(false)
  expect(notices.at(-1)).toContain('1 transaction differs between wallets even when read again')
})

test('a wallet is read again only where its listing counts', async () => {
  const { again, ask } = opened({ '0xa': UNBOUNDED, '0xb': { from: 0, to: 7 } })
  await ask([contradiction(7)])
  expect([...again.keys()]).toEqual(['0xa'])
})

test('a thousand blocks of wallets are read again at most, the first ones', async () => {
  const { again, ask } = opened()
  const many = Array.from({ length: 600 }, (_, at) => contradiction(2 * at))
  expect(await ask(many)).toBe(true)
  expect([...again.values()].map((ranges) => [countBlocks(ranges), ranges.at(-1)?.from])).toEqual([
    [500, 998],
    [500, 998],
  ])
  expect(await ask(many)).toBe(false)
})
