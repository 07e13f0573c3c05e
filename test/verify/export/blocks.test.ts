import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { tableByName } from '../../../src/core/table/index.ts'
import { verifyOutput } from '../../../src/verify/export/verify-output.ts'
import { goodLake } from './model-export.ts'
import { type ManifestDraft, saveManifest, writeLake } from './write-model-export.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'walletlake-test-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Writes a block export of blocks 0 to 999 with rows in blocks 100 to 301. */
async function writeBlocks(change: (manifest: ManifestDraft) => void = () => {}): Promise<void> {
  const manifest = await writeLake(folder, goodLake(), { tables: ['transactions'] })
  const noAddresses = { addresses: 0, addressesSha256: createHash('sha256').update('').digest('hex') }
  Object.assign(manifest.job, { kind: 'blocks', ...noAddresses })
  Object.assign(manifest, { coverage: [], blocks: { fromBlock: 0, toBlock: 1000, missing: [HOLE] } })
  change(manifest)
  await saveManifest(folder, manifest)
}

const HOLE = { fromBlock: 500, toBlock: 503 }
const blocksOf = (manifest: ManifestDraft) => manifest.blocks as Record<string, unknown>

test('passes a block export and reports its missing blocks', async () => {
  await writeBlocks()
  const { problems, missingBlocks } = await verifyOutput(folder)
  expect(problems).toEqual([])
  expect(missingBlocks).toEqual([{ from: 500, to: 503 }])
})

test.for<{ what: string; change: (manifest: ManifestDraft) => void; says: RegExp }>([
  {
    what: 'a block export without its list of blocks',
    change: (m) => void delete m.blocks,
    says: /^manifest\.json: blocks: expected "the blocks of the job", found nothing/,
  },
  {
    what: 'a list of blocks in a wallet export',
    change: (m) => void delete m.job.kind,
    says: /^manifest\.json: blocks: expected "none", found/,
  },
  {
    what: 'an unknown job kind',
    change: (m) => void Object.assign(m.job, { kind: 'tokens' }),
    says: /job\.kind: expected "blocks", found "tokens"/,
  },
  {
    what: 'a wrong first block',
    change: (m) => void Object.assign(blocksOf(m), { fromBlock: 5 }),
    says: /blocks: fromBlock: expected 0, found 5/,
  },
  {
    what: 'a wrong end block',
    change: (m) => void Object.assign(blocksOf(m), { toBlock: 900 }),
    says: /blocks: toBlock: expected 1000, found 900/,
  },
  {
    what: 'wallets',
    change: (m) => void m.coverage.push({ address: '0x1', fromBlock: 0, toBlock: 1000, transactions: 0 }),
    says: /blocks: expected no wallets, found 1/,
  },
  {
    what: 'a table that needs wallets',
    change: (m) => {
      const columns = tableByName('ledger').columns
      Object.assign(m.tables, { ledger: { ...m.tables.transactions, columns } })
    },
    says: /blocks: expected only the table transactions, found ledger/,
  },
  {
    what: 'missing blocks out of order',
    change: (m) => void Object.assign(blocksOf(m), { missing: [HOLE, { fromBlock: 400, toBlock: 401 }] }),
    says: /blocks: missing: expected "ranges in order", found .*400/,
  },
  {
    what: 'missing blocks beyond its end',
    change: (m) => void Object.assign(blocksOf(m), { missing: [{ fromBlock: 999, toBlock: 1001 }] }),
    says: /blocks: missing: expected "ranges in order", found .*1001/,
  },
  {
    what: 'an empty range of missing blocks',
    change: (m) => void Object.assign(blocksOf(m), { missing: [{ fromBlock: 7, toBlock: 7 }] }),
    says: /blocks: missing: expected "ranges in order", found/,
  },
  {
    what: 'a row in a missing block',
    change: (m) => {
      const missing = [{ fromBlock: 5, toBlock: 6 }, { fromBlock: 301, toBlock: 302 }, HOLE]
      Object.assign(blocksOf(m), { missing })
    },
    says: /^transactions\/.* row \d+: block_number: expected no missing block, found 301/,
  },
])('finds $what and names the location', async ({ change, says }) => {
  await writeBlocks(change)
  const { ok, problems } = await verifyOutput(folder)
  expect(ok).toBe(false)
  expect(problems).toContainEqual(expect.stringMatching(says))
})
