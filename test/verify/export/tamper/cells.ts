import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { A, BIG } from '../model-export.ts'
import { ERC20, file, set, type Tampering, TRANSACTIONS } from './tampering.ts'

/** Damage to headers, schemas and cells. */
export const cells: readonly Tampering[] = [
  {
    what: 'a header with columns out of order',
    says: new RegExp(`^${ERC20}: header: expected`),
    writing: {
      edit: { erc20_transfers: (csv) => csv.replace('chain_id,block_number', 'block_number,chain_id') },
    },
  },
  {
    what: 'a byte order mark',
    says: new RegExp(`^${ERC20}: header: expected`),
    writing: { edit: { erc20_transfers: (csv) => `\uFEFF${csv}` } },
  },
  {
    what: 'carriage returns at line ends',
    says: new RegExp(`^${ERC20}: header: expected`),
    writing: { edit: { erc20_transfers: (csv) => csv.replaceAll('\n', '\r\n') } },
  },
  {
    what: 'a row with an extra cell',
    says: new RegExp(`^${ERC20}:\\d+: cannot be read: Expected Number of Columns: \\d+ Found: \\d+$`),
    writing: { edit: { erc20_transfers: (csv) => csv.replace(/\n$/, ',extra\n') } },
  },
  {
    what: 'a row with a missing cell',
    says: new RegExp(`^${ERC20}:\\d+: cannot be read: Expected Number of Columns: \\d+ Found: \\d+$`),
    writing: { edit: { erc20_transfers: (csv) => csv.replace(/,[^,]*\n$/, '\n') } },
  },
  {
    what: 'a number with a leading zero',
    says: new RegExp(`^${ERC20} row 1: log_index: expected .*, found "01"`),
    rows: (lake) => set(lake.erc20_transfers, 0, { log_index: '01' }),
  },
  {
    what: 'a number of more than 32 bits',
    says: /row 1: log_index: expected a 32-bit integer, or null, found "2147483648"/,
    rows: (lake) => set(lake.erc20_transfers, 0, { log_index: '2147483648' }),
  },
  {
    what: 'a number of more than 64 bits',
    says: /row 1: nonce: expected a 64-bit integer/,
    rows: (lake) => set(lake.transactions, 0, { nonce: '9223372036854775808' }),
  },
  {
    what: 'a value of 2^256',
    says: /row 2: value: expected an integer from 0 to 2\^256-1/,
    rows: (lake) => set(lake.erc20_transfers, 1, { value: String(BIG + 1n) }),
  },
  {
    what: 'a value in scientific notation',
    says: /row 2: value: expected .*, found "1e\+77"/,
    rows: (lake) => set(lake.erc20_transfers, 1, { value: '1e+77' }),
  },
  {
    what: 'a boolean that is a number',
    says: /row 1: success: expected true or false, or null, found "1"/,
    rows: (lake) => set(lake.transactions, 0, { success: '1' }),
  },
  {
    what: 'a time without milliseconds',
    says: /row 1: block_timestamp: expected a UTC time/,
    rows: (lake) => set(lake.transactions, 0, { block_timestamp: '2023-11-14T22:46:40Z' }),
  },
  {
    what: 'a time on a day that does not exist',
    says: /row 1: block_timestamp: expected a UTC time/,
    rows: (lake) => set(lake.transactions, 0, { block_timestamp: '2023-02-30T22:46:40.000Z' }),
  },
  {
    what: 'a decimal with a trailing zero',
    says: /row 1: amount: expected a decimal number/,
    rows: (lake) => set(lake.erc20_transfers, 0, { amount: '1.23450' }),
  },
  {
    what: 'an address in capitals',
    says: /row 1: from_address: expected lower-case text/,
    rows: (lake) => set(lake.transactions, 0, { from_address: A.replace('x', 'X') }),
  },
  {
    what: 'a null in a non-null column',
    says: /row 2: token_address: expected lower-case text, found null/,
    rows: (lake) => set(lake.erc20_transfers, 1, { token_address: null }),
  },
  {
    what: 'a block outside its file',
    says: new RegExp(
      `^${TRANSACTIONS.replace('0302', '0206')} row 4: block_number: expected 100 to 205, found 300`,
    ),
    manifest: (m) =>
      void Object.assign(file(m, 'transactions'), {
        toBlock: 206,
        path: TRANSACTIONS.replace('0302', '0206'),
      }),
    after: (folder) => rename(join(folder, TRANSACTIONS), join(folder, TRANSACTIONS.replace('0302', '0206'))),
  },
  {
    what: 'a Parquet time without a zone',
    says: /parquet: column 4: expected "block_timestamp TIMESTAMP adjusted to UTC", found "block_timestamp TIMESTAMP without zone"/,
    writing: { ending: 'parquet', types: { 'ledger.block_timestamp': 'TIMESTAMP' } },
  },
  {
    what: 'a Parquet integer of the wrong width',
    says: /parquet: column 6: expected "transaction_index INT32", found "transaction_index INT64"/,
    writing: { ending: 'parquet', types: { 'ledger.transaction_index': 'BIGINT' } },
  },
  {
    what: 'a Parquet value as a floating-point number',
    says: /column 21: expected "value UTF8", found "value DOUBLE"/,
    writing: { ending: 'parquet', types: { 'ledger.value': 'DOUBLE' } },
  },
  {
    what: 'a Parquet null in a non-null column',
    says: /parquet row 2: token_address: expected/,
    writing: { ending: 'parquet' },
    rows: (lake) => set(lake.erc20_transfers, 1, { token_address: null }),
  },
  {
    what: 'a Parquet time finer than milliseconds',
    says: /parquet row 1: block_timestamp: expected a UTC time/,
    writing: { ending: 'parquet' },
    rows: (lake) => set(lake.erc20_transfers, 0, { block_timestamp: '2023-11-14T22:46:40.123456Z' }),
  },
]
