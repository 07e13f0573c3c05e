import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { A, B, C } from '../model-export.ts'
import { covered, type Tampering } from './tampering.ts'

/** Damage to coverage, job settings and rejects. */
export const coverage: readonly Tampering[] = [
  {
    what: 'a coverage that counts one transaction too many',
    says: new RegExp(`^wallet_transactions of ${B}: rows: expected "4 as in coverage", found 3`),
    manifest: (m) => void Object.assign(covered(m, 1), { transactions: 4 }),
  },
  {
    what: 'a coverage that counts one transaction too few',
    says: new RegExp(`^wallet_transactions of ${B}: rows: expected "2 as in coverage", found 3`),
    manifest: (m) => void Object.assign(covered(m, 1), { transactions: 2 }),
  },
  {
    what: 'a coverage with an address twice',
    says: /coverage: expected addresses in order/,
    manifest: (m) => void Object.assign(covered(m, 1), { address: A }),
  },
  {
    what: 'a coverage out of order',
    says: /coverage: expected addresses in order/,
    manifest: (m) => void m.coverage.reverse(),
  },
  {
    what: 'a coverage without one of the wallets',
    says: new RegExp(`wallet_transactions-.* row 4: expected a wallet of the coverage, found ${C}`),
    manifest: (m) => void m.coverage.pop(),
  },
  {
    what: 'a coverage without any wallet',
    says: /^manifest\.json: coverage: expected at least one wallet, found none/,
    manifest: (m) => void m.coverage.splice(0),
  },
  {
    what: 'a coverage that ends before it starts',
    says: /coverage: 0x1+: toBlock 0 is before 1/,
    manifest: (m) => void Object.assign(covered(m, 0), { fromBlock: 1, toBlock: 0 }),
  },
  {
    what: 'a coverage that starts late',
    says: /coverage: fromBlock of 0x2+: expected 0, found 200/,
    manifest: (m) => void Object.assign(covered(m, 1), { fromBlock: 200 }),
  },
  {
    what: 'a coverage that the end of the whole export does not follow',
    says: /^manifest\.json: completeToBlock: expected 300, found 1000/,
    manifest: (m) => void Object.assign(covered(m, 0), { toBlock: 300 }),
  },
  {
    what: 'a coverage of a removed wallet that ends before its rows',
    says: new RegExp(`^wallet_transactions of ${A}: blocks: expected "0 to 299", found "100 to 301"`),
    manifest: (m) => void Object.assign(covered(m, 0), { toBlock: 300, removed: true }),
  },
  {
    what: 'a label that is not in the rows',
    says: /^wallet_transactions\/.* row \d+: wallet_label: expected hot, found '-b/,
    manifest: (m) => void Object.assign(covered(m, 1), { label: 'hot' }),
  },
  {
    what: 'a missing label that is in the rows',
    says: /^wallet_transactions\/.* row \d+: wallet_label: expected null, found '-b/,
    manifest: (m) => void Object.assign(covered(m, 1), { label: null }),
  },
  {
    what: 'a native symbol that is not in the ledger',
    says: /^ledger\/.* row \d+: asset_symbol: expected 'COIN', found AVAX/,
    manifest: (m) => void Object.assign(m.job, { nativeSymbol: 'COIN' }),
  },
  {
    what: 'another number of addresses',
    says: /job: addresses: expected "3 as in coverage", found 4/,
    manifest: (m) => void Object.assign(m.job, { addresses: 4 }),
  },
  {
    what: 'another hash of addresses',
    says: /job: addressesSha256: expected/,
    manifest: (m) => void Object.assign(m.job, { addressesSha256: 'b'.repeat(64) }),
  },
  {
    what: 'a missing rejects file',
    says: /^rejects\.ndjson: lines: expected 1, found "no file"/,
    manifest: (m) => void Object.assign(m, { rejects: 1 }),
  },
  {
    what: 'an uncounted reject',
    says: /^rejects\.ndjson: lines: expected 0, found 1/,
    after: (folder) => writeFile(join(folder, 'rejects.ndjson'), '{}\n'),
  },
  {
    what: 'a reject that is not JSON',
    says: /^rejects\.ndjson line 2: expected a JSON object/,
    manifest: (m) => void Object.assign(m, { rejects: 2 }),
    after: (folder) => writeFile(join(folder, 'rejects.ndjson'), '{}\n{"a":\n'),
  },
]
