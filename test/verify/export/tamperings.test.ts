import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect } from 'vitest'
import { verifyOutput } from '../../../src/verify/export/verify-output.ts'
import { testSample } from '../../helpers/test-sample.ts'
import { goodLake } from './model-export.ts'
import { cells } from './tamper/cells.ts'
import { coverage } from './tamper/coverage.ts'
import { files } from './tamper/files.ts'
import { ledger } from './tamper/ledger.ts'
import { tables } from './tamper/tables.ts'
import { saveManifest, writeLake } from './write-model-export.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'walletlake-test-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const ALL = [...files, ...cells, ...tables, ...coverage, ...ledger]
/** Some of each kind, and a row that is there twice. */
const SAMPLE = ALL.filter((one, at) => at % 10 === 0 || one === tables[0])

testSample(
  SAMPLE.length,
  [...SAMPLE, ...ALL.filter((one) => !SAMPLE.includes(one))],
  'finds $what and names the location',
  async ({ says, rows, writing, manifest, after }) => {
    const lake = goodLake()
    rows?.(lake)
    const draft = await writeLake(folder, lake, writing)
    manifest?.(draft)
    await saveManifest(folder, draft)
    await after?.(folder)
    const verdict = await verifyOutput(folder)
    expect(verdict.ok).toBe(false)
    expect(verdict.problems).toContainEqual(expect.stringMatching(says))
  },
)
