import { at, ERC20, set, swap, type Tampering } from './tampering.ts'

/** Damage to keys, order and references between tables. */
export const tables: readonly Tampering[] = [
  {
    what: 'a duplicate fact',
    says: /^erc20_transfers\/.* row 5: key: expected .*transfer_id 1 once, found it 2 times/,
    rows: (lake) => void lake.erc20_transfers.push({ ...at(lake.erc20_transfers, 0) }),
  },
  {
    what: 'a ledger row that both files contain',
    says: /-0001\.csv row 11: key: expected entry_id \w+ once, found it 2 times/,
    rows: (lake) => void lake.ledger.push({ ...at(lake.ledger, 0) }),
  },
  {
    what: 'transfers out of order',
    says: new RegExp(`^${ERC20} row 2: order by .*: 100,3,1 follows 100,3,2`),
    rows: (lake) => swap(lake.erc20_transfers, 0),
  },
  {
    what: 'transactions out of order',
    says: /transactions-.* row 2: order by .*: 100,0 follows 100,3/,
    rows: (lake) => swap(lake.transactions, 0),
  },
  {
    what: 'a transaction of unknown position before others of its block',
    says: /transactions-.* row 2: order by .*: 100,3 follows 100,2147483646/,
    rows: (lake) => set(lake.transactions, 0, { transaction_index: '' }),
  },
  {
    what: "a transaction's wallets out of order",
    says: /row 2: order by .*wallet_address/,
    rows: (lake) => swap(lake.wallet_transactions, 0),
  },
  {
    what: 'a block older than an earlier one',
    says: /transactions-.* row 6: block 301 is before an earlier block \(\d+ < \d+\)/,
    rows: (lake) => set(lake.transactions, 5, { block_timestamp: '2023-11-14T22:15:40.123Z' }),
  },
  {
    what: 'batch entries out of order',
    says: /row 2: order by .*transfer_ordinal: 205,1,3,0 follows 205,1,3,1/,
    rows: (lake) => swap(lake.erc1155_transfers, 0),
  },
  {
    what: 'internal transactions out of order',
    says: /internal_transactions-.* row 5: order by/,
    rows: (lake) =>
      void lake.internal_transactions.push({
        ...at(lake.internal_transactions, 0),
        block_number: '204',
        internal_id: 'ffffffffffffffff-0',
      }),
  },
  {
    what: 'an internal_id that does not match the content',
    says: /internal_transactions-.* row 1: internal_id: expected [0-9a-f]{16}-0, found 00ff[0-9a-f]{12}-0/,
    rows: (lake) =>
      set(lake.internal_transactions, 0, {
        internal_id: String(at(lake.internal_transactions, 0).internal_id).replace(/^..../, '00ff'),
      }),
  },
  {
    what: 'a transfer id that is not the log index',
    says: /^erc20_transfers\/.* row 1: transfer_id: expected 1, found 2/,
    rows: (lake) => set(lake.erc20_transfers, 0, { transfer_id: '2' }),
  },
  {
    what: 'a transfer id without log index that is not the hash of the content',
    says: /^erc721_transfers\/.* row 1: transfer_id: expected [0-9a-f]{16}-0, found 0{16}-0/,
    rows: (lake) => set(lake.erc721_transfers, 0, { log_index: '', transfer_id: `${'0'.repeat(16)}-0` }),
  },
  {
    what: 'a log in two tables',
    says: /^log 3 of 0x3+: expected it in one table, found it in erc1155_transfers and erc721_transfers/,
    rows: (lake) => set(lake.erc721_transfers, 0, { log_index: '3', transfer_id: '3' }),
  },
  {
    what: 'a table with another chain id',
    says: /^chain_id: expected one chain, found 1 in erc721_transfers, 43114 in/,
    rows: (lake) => set(lake.erc721_transfers, 0, { chain_id: '1' }),
  },
  {
    what: 'a success value that contradicts the status',
    says: /transactions-.* row 4: success: expected the meaning of status 0, found true/,
    rows: (lake) => set(lake.transactions, 3, { success: 'true' }),
  },
  {
    what: 'a fee that is not gas used × gas price',
    says: /transactions-.* row 1: transaction_fee: expected 21000 × 25000000000, found 525000000000001/,
    rows: (lake) => set(lake.transactions, 0, { transaction_fee: '525000000000001' }),
  },
  {
    what: 'a fee of 215 bits that is off by one',
    says: /row 5: transaction_fee: expected 21000 × 10{60}, found 210{62}1/,
    rows: (lake) => set(lake.transactions, 4, { transaction_fee: `21${'0'.repeat(62)}1` }),
  },
  {
    what: 'an amount that is not the value scaled by the decimals',
    says: new RegExp(`^${ERC20} row 1: amount: expected 1234500 / 10\\^6, found 12.345`),
    rows: (lake) => set(lake.erc20_transfers, 0, { amount: '12.345' }),
  },
  {
    what: 'a fact without its transaction',
    says: /erc721_transfers-.* row 1: expected 0x3{64} as in transactions, found no such row/,
    rows: (lake) => void lake.transactions.splice(2, 1),
  },
  {
    what: 'a fact in another block than its transaction',
    says: /internal_transactions-.* row 1: expected 0x3{64} as in transactions, found a different block, time or index/,
    rows: (lake) => set(lake.internal_transactions, 0, { block_hash: '0xother' }),
  },
  {
    what: 'a transaction of no wallet',
    says: /transactions-.* row 4: expected 0x4{64} in wallet_transactions/,
    rows: (lake) => void lake.wallet_transactions.splice(6, 1),
  },
  {
    what: 'is_sender for a wallet that is not the sender',
    says: /wallet_transactions-.* row 2: is_sender, is_receiver/,
    rows: (lake) => set(lake.wallet_transactions, 1, { is_sender: 'true' }),
  },
  {
    what: 'a wallet that counts more transfers than exist',
    says: /row 5: erc1155_transfers: expected at most the 2 .*, found 3/,
    rows: (lake) => set(lake.wallet_transactions, 4, { erc1155_transfers: '3' }),
  },
]
