import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Cells } from '../../src/core/table/index.ts'
import { dataApi } from '../../src/sources/data-api/data-api.ts'
import type { Source } from '../../src/sources/source.ts'
import { contentTransferId, type Occurrences } from '../../src/sources/transfer-id.ts'
import { ALICE, BOB, CAROL, erc20, erc721, erc1155, flatten, item, party, TOKEN } from './items.ts'

type Transfers = Cells<'erc20_transfers'> | Cells<'erc721_transfers'> | Cells<'erc1155_transfers'>

/** A source that lists the transfers of the Data API without log index. */
const source: Source = {
  ...dataApi,
  readView: (of, context) => {
    const view = dataApi.readView(of, context)
    if (typeof view === 'string') return view
    const { erc20, erc721, erc1155 } = view
    const ordinals = { ...view, erc1155: erc1155.map((row) => ({ ...row, transfer_ordinal: null })) }
    return {
      ...ordinals,
      erc20: withoutLog(erc20),
      erc721: withoutLog(erc721),
      erc1155: withoutLog(ordinals.erc1155),
    }
  },
}

function withoutLog<T extends Transfers>(rows: readonly T[]): T[] {
  const occurrences: Occurrences = new Map()
  return rows.map((row) => ({ ...row, log_index: null, transfer_id: contentTransferId(row, occurrences) }))
}

const idOf = (content: readonly unknown[], occurrence: number) =>
  `${createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16)}-${occurrence}`

/** A transfer of a value, at a log of its own. */
const pay = (value: string, [from, to]: readonly [string, string], logIndex: number) =>
  erc20({ value, from: party(from), to: party(to), logIndex })

test('a transfer without log index is identified by its content and its occurrence', () => {
  const lists = {
    erc20Transfers: [pay('7', [ALICE, BOB], 1), pay('7', [ALICE, BOB], 2)],
    erc721Transfers: [erc721({ logIndex: 3 })],
    erc1155Transfers: [erc1155({ logIndex: 4 })],
  }
  const { rows } = flatten({ [ALICE]: item({}, lists) }, { source })
  const payment = [TOKEN, ALICE, BOB, null, '7']
  expect(rows.erc20_transfers).toMatchObject([
    { transfer_id: idOf(payment, 0), log_index: null },
    { transfer_id: idOf(payment, 1), log_index: null },
  ])
  expect(rows.erc721_transfers).toMatchObject([{ transfer_id: idOf([TOKEN, ALICE, BOB, '77', null], 0) }])
  expect(rows.erc1155_transfers).toMatchObject([
    { transfer_id: idOf([TOKEN, ALICE, BOB, '9', '4'], 0), transfer_ordinal: null },
  ])
})

const WALLETS = [ALICE, BOB, CAROL] as const
const payments = fc.array(
  fc.record({
    value: fc.constantFrom('1', '2'),
    from: fc.constantFrom(...WALLETS),
    to: fc.constantFrom(...WALLETS),
  }),
  { minLength: 1, maxLength: 14 },
)

test('the views of several wallets unite to the same rows, whatever their order', () => {
  fc.assert(
    fc.property(payments, fc.boolean(), (paid, isReversed) => {
      const all = paid.map(({ value, from, to }, at) => pay(value, [from, to], at))
      const ordered = isReversed ? all.toReversed() : all
      const viewOf = (wallet: string) =>
        ordered.filter((_, at) => {
          const { from, to } = paid[isReversed ? paid.length - 1 - at : at] ?? { from: '', to: '' }
          return from === wallet || to === wallet
        })
      const views = Object.fromEntries(
        WALLETS.map((wallet) => [wallet, item({}, { erc20Transfers: viewOf(wallet) })]),
      )
      const united = flatten(views, { source })
      const complete = flatten({ [ALICE]: item({}, { erc20Transfers: all }) }, { source })
      expect(united.rows.erc20_transfers).toEqual(complete.rows.erc20_transfers)
      expect(united.rows.erc20_transfers).toHaveLength(paid.length)
      expect(united.isContradicted).toBe(false)
    }),
    { numRuns: 50 },
  )
})
