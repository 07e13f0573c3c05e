import { appendFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ERC20, file, type Tampering } from './tampering.ts'

/** Damage to files and the manifest. */
export const files: readonly Tampering[] = [
  {
    what: 'a missing manifest',
    says: /^manifest\.json: cannot be read \(ENOENT\)/,
    after: (folder) => rm(join(folder, 'manifest.json')),
  },
  {
    what: 'a manifest that is not JSON',
    says: /manifest\.json: it is not JSON/,
    after: (folder) => writeFile(join(folder, 'manifest.json'), '{'),
  },
  {
    what: 'a manifest of another version',
    says: /manifestVersion: expected 1, found 2/,
    manifest: (m) => void Object.assign(m, { manifestVersion: 2 }),
  },
  {
    what: 'a manifest without its rejects',
    says: /rejects: expected a whole number from 0, found nothing/,
    manifest: (m) => void delete m.rejects,
  },
  {
    what: 'a manifest with an unknown table',
    says: /tables\.blocks: expected a table of/,
    manifest: (m) => void Object.assign(m.tables, { blocks: { rows: 0, columns: [], files: [] } }),
  },
  {
    what: 'a manifest without any table',
    says: /^manifest\.json: tables: expected at least one table, found {}/,
    manifest: (m) => void Object.assign(m, { tables: {} }),
  },
  {
    what: 'a manifest whose tables are a list',
    says: /^manifest\.json: tables: expected at least one table, found \[\]/,
    manifest: (m) => void Object.assign(m, { tables: [] }),
  },
  {
    what: 'a manifest of wallets with a range of whole blocks',
    says: /^manifest\.json: blocks: expected "none", found {"fromBlock":0/,
    manifest: (m) => void Object.assign(m, { blocks: { fromBlock: 0, toBlock: 1e15, missing: [] } }),
  },
  {
    what: 'a manifest with another column type',
    says: /ledger has block_number as text, now int64/,
    manifest: (m) => void Object.assign(m.tables.ledger?.columns[1] ?? {}, { type: 'text' }),
  },
  {
    what: 'a path that leads out of the folder',
    says: /tables\.transactions\.files\[0\]\.path: expected .*found "\.\.\/transactions\//,
    manifest: (m) =>
      void Object.assign(file(m, 'transactions'), {
        path: '../transactions/transactions-000000000100-000000000302-0000.csv',
      }),
  },
  {
    what: 'a path of another table',
    says: /^ledger: path: expected/,
    manifest: (m) => void Object.assign(file(m, 'ledger'), { path: ERC20 }),
  },
  {
    what: 'a path whose blocks differ from its entry',
    says: /^transactions: path: expected .*-000000000099-/,
    manifest: (m) => void Object.assign(file(m, 'transactions'), { fromBlock: 99 }),
  },
  {
    what: 'files of a table out of order',
    says: /tables\.ledger: files: expected them sorted/,
    manifest: (m) => void m.tables.ledger?.files.reverse(),
  },
  {
    what: 'a missing file',
    says: new RegExp(`^${ERC20}: expected a file, found none`),
    after: (folder) => rm(join(folder, ERC20)),
  },
  {
    what: 'a file with an extra byte',
    says: new RegExp(`^${ERC20}: bytes: expected \\d+, found \\d+`),
    after: (folder) => appendFile(join(folder, ERC20), '\n'),
  },
  {
    what: 'a file with a wrong hash',
    says: new RegExp(`^${ERC20}: sha256: expected "0+"`),
    manifest: (m) => void Object.assign(file(m, 'erc20_transfers'), { sha256: '0'.repeat(64) }),
  },
  {
    what: 'a file replaced by a folder',
    says: new RegExp(`^${ERC20}: expected a file`),
    after: (folder) =>
      rename(join(folder, 'ledger'), join(folder, 'x'))
        .then(() => rm(join(folder, ERC20)))
        .then(() => rename(join(folder, 'x'), join(folder, ERC20))),
  },
  {
    what: 'a manifest that lists too many rows for a file',
    says: new RegExp(`^${ERC20}: rows: expected 5, found 4`),
    manifest: (m) => void Object.assign(file(m, 'erc20_transfers'), { rows: 5 }),
  },
  {
    what: 'a manifest that lists too many rows for a table',
    says: /tables\.erc20_transfers: rows: expected/,
    manifest: (m) => void Object.assign(m.tables.erc20_transfers ?? {}, { rows: 9 }),
  },
  {
    what: 'a gzip file that is not gzip',
    says: /^ledger\/.*csv\.gz: (header|cannot be read)/,
    writing: { ending: 'csv.gz' },
    after: (folder) =>
      writeFile(join(folder, 'ledger/ledger-000000000100-000000000206-0000.csv.gz'), 'plain'),
  },
  {
    what: 'a Parquet file that is not Parquet',
    says: /^ledger\/.*parquet: cannot be read/,
    writing: { ending: 'parquet' },
    after: (folder) =>
      writeFile(join(folder, 'ledger/ledger-000000000100-000000000206-0000.parquet'), 'PAR1PAR1PAR1'),
  },
]
