import { BIG, C, type Cells, COIN, entryId, X } from '../model-export.ts'
import { at, set, swap, type Tampering } from './tampering.ts'

const id = (row: Cells, changed: Cells, fact = '') => {
  const cells = { ...row, ...changed }
  const parts = ['chain_id', 'transaction_hash', 'wallet_address', 'source'].map((name) =>
    String(cells[name]),
  )
  return {
    ...changed,
    entry_id: entryId([...parts, fact, String(cells.entry_type), String(cells.direction)]),
  }
}

/** Damage to ledger entries. */
export const ledger: readonly Tampering[] = [
  {
    what: 'a positive outgoing value',
    says: /ledger-.*-0000\.csv row 2: expected a negative value for direction out, found native transfer out/,
    rows: (lake) => set(lake.ledger, 1, { value: '5000000000000000000', amount: '5' }),
  },
  {
    what: 'a negative incoming value',
    says: /row 3: expected a positive value for direction in/,
    rows: (lake) => set(lake.ledger, 2, { value: '-5000000000000000000', amount: '-5' }),
  },
  {
    what: 'a wrong amount',
    says: /row 5: expected amount = value \/ 10\^asset_decimals, exact/,
    rows: (lake) => set(lake.ledger, 4, { amount: '-1.2346' }),
  },
  {
    what: 'a fee with a counterparty',
    says: /row 1: expected a fee to be an outgoing native entry from transactions without counterparty/,
    rows: (lake) => set(lake.ledger, 0, { counterparty_address: X }),
  },
  {
    what: 'a wrap of the native coin',
    says: /row 3: expected a wrap to be an incoming and an unwrap an outgoing ERC-20 entry of the counterparty/,
    rows: (lake) => set(lake.ledger, 2, { entry_type: 'wrap' }),
  },
  {
    what: 'a wrap that comes from an event',
    says: /row 6: expected a source that matches the asset type/,
    rows: (lake) => set(lake.ledger, 5, { entry_type: 'wrap' }),
  },
  {
    what: 'a native entry with an asset address',
    says: /row 2: expected an asset_address for every asset but the native coin/,
    rows: (lake) => set(lake.ledger, 1, { asset_address: COIN }),
  },
  {
    what: "a fee that differs from the transaction's",
    says: /row 1: value: expected "-525000000000000", found "-525000000000001"/,
    rows: (lake) => set(lake.ledger, 0, { value: '-525000000000001', amount: '-0.000525000000000001' }),
  },
  {
    what: 'a value above 2^128 that is off by one',
    says: new RegExp(`row 6: value: expected "${BIG}", found "${BIG - 1n}"`),
    rows: (lake) => set(lake.ledger, 5, { value: String(BIG - 1n) }),
  },
  {
    what: 'a total above 2^256 that is off by one',
    says: new RegExp(
      `^ledger total of ${C} in erc20 ${COIN}: expected ${2n * BIG} from the facts, found ${2n * BIG - 1n}$`,
    ),
    rows: (lake) => set(lake.ledger, 5, { value: String(BIG - 1n) }),
  },
  {
    what: 'an entry id of no fact',
    says: /row 2: entry_id: expected the id of a fact in transactions, found 0{32}/,
    rows: (lake) => set(lake.ledger, 1, { entry_id: '0'.repeat(32) }),
  },
  {
    what: 'a mint that is labelled a transfer',
    says: /row 6: entry_id: expected the id of a fact in erc20_transfers/,
    rows: (lake) => set(lake.ledger, 5, id(at(lake.ledger, 5), { entry_type: 'transfer' }, '2')),
  },
  {
    what: 'a wrong counterparty',
    says: /row 5: counterparty_address: expected "0x9{40}", found "0x3{40}"/,
    rows: (lake) => set(lake.ledger, 4, { counterparty_address: C }),
  },
  {
    what: 'a counterparty that is not marked as own',
    says: /row 2: counterparty_is_own: expected true, found false/,
    rows: (lake) => set(lake.ledger, 1, { counterparty_is_own: 'false' }),
  },
  {
    what: 'a wrong token id',
    says: /-0001\.csv row 1: token_id: expected "77", found "78"/,
    rows: (lake) => set(lake.ledger, 8, { token_id: '78' }),
  },
  {
    what: 'a gap in the entry indexes',
    says: /row 2: entry_index: expected 1, found 2/,
    rows: (lake) => set(lake.ledger, 1, { entry_index: '2' }),
  },
  {
    what: 'entry indexes that start at one',
    says: /row 3: entry_index: expected 0, found 1/,
    rows: (lake) => set(lake.ledger, 2, { entry_index: '1' }),
  },
  {
    what: 'a transfer before the fee',
    says: /row 2: expected the order fee, native, internal, ERC-20, ERC-721, ERC-1155, found transactions too late/,
    rows: (lake) => {
      swap(lake.ledger, 0)
      set(lake.ledger, 0, { entry_index: '0' })
      set(lake.ledger, 1, { entry_index: '1' })
    },
  },
  {
    what: 'a missing movement',
    says: /^ledger: expected transfer in of 30 for 0x2{40} in 0x3{64} from erc1155_transfers, found no such row/,
    rows: (lake) => void lake.ledger.splice(12, 1),
  },
  {
    what: 'a movement of a failed transaction',
    says: /row 7: entry_id: expected the id of a fact in transactions/,
    rows: (lake) =>
      void lake.ledger.splice(14, 0, {
        ...at(lake.ledger, 13),
        ...id(at(lake.ledger, 13), {
          entry_type: 'transfer',
          value: '-1',
          amount: '-0.000000000000000001',
          entry_index: '1',
          counterparty_address: X,
        }),
      }),
  },
  {
    what: 'a reverted movement',
    says: /row 4: entry_id: expected the id of a fact in internal_transactions/,
    rows: (lake) =>
      void lake.ledger.splice(11, 0, {
        ...at(lake.ledger, 7),
        ...id(
          at(lake.ledger, 7),
          { entry_index: '5', direction: 'out', value: '-4', amount: '-0.000000000000000004' },
          'ba2db19c873252a8-0',
        ),
      }),
  },
]
