import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { buildManifest } from '../../src/files/build-manifest.ts'

const ALICE = `0x${'a'.repeat(40)}`
const BOB = `0x${'b'.repeat(40)}`

const JOB = {
  name: 'n',
  chain: '1',
  startBlock: 5,
  endBlock: undefined,
  format: 'csv',
  compression: 'gzip',
  nativeSymbol: 'AVAX',
  wraps: 'ledger',
  wrappedCoins: [],
  escapeFormulas: true,
  service: { api: 'data-api' },
  wallets: [
    { address: ALICE, label: 'hot' },
    { address: BOB, label: null },
  ],
} as unknown as Job

const part = (rows: number, n: number) => ({
  path: `ledger/part-${n}`,
  rows,
  bytes: 10 * rows,
  sha256: `hash ${n}`,
  fromBlock: 5,
  toBlock: 9,
  staged: '/tmp/secret-place',
})

test('a manifest names the API only if it is not the default one', () => {
  const [range, parts, seen] = [{ from: 5, to: 9 }, new Map(), new Map()]
  const content = { range, parts, seen, rejects: 0, unknowns: undefined }
  const job = { ...JOB, service: { ...JOB.service, api: 'etherscan' as const } }
  expect(buildManifest({ job, ...content }).job).toMatchObject({ api: 'etherscan' })
  expect(buildManifest({ job: JOB, ...content }).job).not.toHaveProperty('api')
})

test('a manifest states the job, the coverage and the files', () => {
  const manifest = buildManifest({
    job: JOB,
    range: { from: 5, to: 9 },
    parts: new Map([['ledger', [part(3, 0), part(2, 1)]]]),
    seen: new Map([[BOB, 4]]),
    rejects: 1,
    unknowns: { statusUnknown: 3, feeUnknown: 2, feesUpperBound: 0 },
  })
  expect(manifest).toMatchObject({
    manifestVersion: 1,
    schemaVersion: 1,
    rejects: 1,
    statusUnknown: 3,
    feeUnknown: 2,
  })
  expect(manifest.generator).toMatch(/^walletlake \d+\.\d+\.\d+/)
  expect(manifest.job).toEqual({
    name: 'n',
    chain: '1',
    startBlock: 5,
    endBlock: null,
    format: 'csv',
    compression: 'gzip',
    addresses: 2,
    nativeSymbol: 'AVAX',
    wraps: 'ledger',
    fees: 'exact',
    escapeFormulas: true,
    addressesSha256: createHash('sha256').update(`${ALICE}\n${BOB}`).digest('hex'),
  })
  expect(manifest.coverage).toEqual([
    { address: ALICE, fromBlock: 5, toBlock: 9, transactions: 0, label: 'hot' },
    { address: BOB, fromBlock: 5, toBlock: 9, transactions: 4, label: null },
  ])
  expect(Object.keys(manifest.tables)).toEqual(['ledger'])
  expect(manifest.tables.ledger).toMatchObject({
    rows: 5,
    files: [
      { path: 'ledger/part-0', rows: 3, bytes: 30, sha256: 'hash 0', fromBlock: 5, toBlock: 9 },
      { path: 'ledger/part-1', rows: 2 },
    ],
  })
  expect(manifest.tables.ledger?.columns[0]).toEqual({ name: 'chain_id', type: 'text', nullable: false })
  expect(JSON.stringify(manifest)).not.toContain('secret-place')
})

test.for([
  { api: 'etherscan', fees: 'exact' },
  { api: 'blockscout', fees: 'listed' },
] as const)('fees from $api are $fees', ({ api, fees }) => {
  const job = { ...JOB, service: { ...JOB.service, api } }
  const unknowns = { statusUnknown: 0, feeUnknown: 0, feesUpperBound: 0 }
  const source = { range: { from: 5, to: 9 }, parts: new Map(), seen: new Map(), rejects: 0, unknowns }
  expect(buildManifest({ job, ...source }).job.fees).toBe(fees)
})
