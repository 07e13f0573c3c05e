import { at, ERC20, set, swap, type Tampering } from './tampering.ts'

/** Keys, order and links. */
export const tables: readonly Tampering[] = [
  {
    what: 'a fact that is there twice',
    says: /^erc20_transfers\/.* row 5: key: expected .*log_index 1 once, found it 2 times/,
    rows: (lake) => void lake.erc20_transfers.push({ ...at(lake.erc20_transfers, 0) }),
  },
  {
    what: 'a ledger row that is in both files',
    says: /-0001\.csv row 11: key: expected entry_id \w+ once, found it 2 times/,
    rows: (lake) => void lake.ledger.push({ ...at(lake.ledger, 0) }),
  },
  {
    what: 'transfers in another order',
    says: new RegExp(`^${ERC20} row 2: order by .*: 100,3,1 follows 100,3,2`),
    rows: (lake) => swap(lake.erc20_transfers, 0),
  },
  {
    what: 'transactions in another order',
    says: /transactions-.* row 2: order by .*: 100,0 follows 100,3/,
    rows: (lake) => swap(lake.transactions, 0),
  },
  {
    what: 'wallets of a transaction in another order',
    says: /row 2: order by .*wallet_address/,
    rows: (lake) => swap(lake.wallet_transactions, 0),
  },
  {
    what: 'batch entries in another order',
    says: /row 2: order by .*transfer_ordinal: 205,1,3,0 follows 205,1,3,1/,
    rows: (lake) => swap(lake.erc1155_transfers, 0),
  },
  {
    what: 'internal transactions in another order',
    says: /internal_transactions-.* row 5: order by/,
    rows: (lake) =>
      void lake.internal_transactions.push({
        ...at(lake.internal_transactions, 0),
        block_number: '204',
        internal_id: 'ffffffffffffffff-0',
      }),
  },
  {
    what: 'an internal_id of other content',
    says: /internal_transactions-.* row 1: internal_id: expected [0-9a-f]{16}-0, found 00ff[0-9a-f]{12}-0/,
    rows: (lake) =>
      set(lake.internal_transactions, 0, {
        internal_id: String(at(lake.internal_transactions, 0).internal_id).replace(/^..../, '00ff'),
      }),
  },
  {
    what: 'a log in two tables',
    says: /^log 3 of 0x3+: expected it in one table, found it in erc1155_transfers and erc721_transfers/,
    rows: (lake) => set(lake.erc721_transfers, 0, { log_index: '3' }),
  },
  {
    what: 'another chain in one table',
    says: /^chain_id: expected one chain, found 1 in erc721_transfers, 43114 in/,
    rows: (lake) => set(lake.erc721_transfers, 0, { chain_id: '1' }),
  },
  {
    what: 'a success that is none',
    says: /transactions-.* row 4: success: expected what status 0 means, found true/,
    rows: (lake) => set(lake.transactions, 3, { success: 'true' }),
  },
  {
    what: 'a fee that is not gas by price',
    says: /transactions-.* row 1: transaction_fee: expected 21000 × 25000000000, found 525000000000001/,
    rows: (lake) => set(lake.transactions, 0, { transaction_fee: '525000000000001' }),
  },
  {
    what: 'a fee of 215 bits that is off by one',
    says: /row 5: transaction_fee: expected 21000 × 10{60}, found 210{62}1/,
    rows: (lake) => set(lake.transactions, 4, { transaction_fee: `21${'0'.repeat(62)}1` }),
  },
  {
    what: 'an amount that is not value by decimals',
    says: new RegExp(`^${ERC20} row 1: amount: expected 1234500 / 10\\^6, found 12.345`),
    rows: (lake) => set(lake.erc20_transfers, 0, { amount: '12.345' }),
  },
  {
    what: 'a fact whose transaction is left out',
    says: /erc721_transfers-.* row 1: expected 0x3{64} as in transactions, found that it is not there/,
    rows: (lake) => void lake.transactions.splice(2, 1),
  },
  {
    what: 'a fact in another block than its transaction',
    says: /internal_transactions-.* row 1: expected 0x3{64} as in transactions, found that block, time or index differ/,
    rows: (lake) => set(lake.internal_transactions, 0, { block_hash: '0xother' }),
  },
  {
    what: 'a transaction that no wallet saw',
    says: /transactions-.* row 4: expected 0x4{64} in wallet_transactions/,
    rows: (lake) => void lake.wallet_transactions.splice(6, 1),
  },
  {
    what: 'a sender that did not send',
    says: /wallet_transactions-.* row 2: is_sender, is_receiver/,
    rows: (lake) => set(lake.wallet_transactions, 1, { is_sender: 'true' }),
  },
  {
    what: 'a view with more transfers than there are',
    says: /row 5: erc1155_transfers: expected at most the 2 .*, found 3/,
    rows: (lake) => set(lake.wallet_transactions, 4, { erc1155_transfers: '3' }),
  },
]
