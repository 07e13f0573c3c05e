import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { requireSafeManifest } from '../../../src/files/publish.ts'
import { readManifest } from '../../../src/load/read-manifest.ts'
import { requireManifest } from '../../../src/read/dataset.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'
import { goodLake } from '../../verify/export/model-export.ts'
import { type ManifestDraft, saveManifest, writeLake } from '../../verify/export/write-model-export.ts'

function tableOf({ tables }: ManifestDraft, name: string) {
  const table = tables[name]
  if (table === undefined) throw new Error(`there is no table ${name}`)
  return table
}

const EDITS: Record<string, { path: RegExp; edit: (manifest: ManifestDraft) => void }> = {
  'another number of rows than its files': {
    path: /tables\.ledger\.rows: expected \d+ as in its files, found \d+/,
    edit: (manifest) => {
      tableOf(manifest, 'ledger').rows += 1
    },
  },
  'a file twice': {
    path: /tables\.ledger\.files\[2\]\.path: expected each file once, found "ledger\//,
    edit: (manifest) => {
      const { files } = tableOf(manifest, 'ledger')
      files.push(...files.slice(0, 1))
      tableOf(manifest, 'ledger').rows = files.reduce((sum, { rows }) => sum + rows, 0)
    },
  },
  'another number of transactions than its coverage': {
    path: /tables\.wallet_transactions\.rows: expected \d+ as in the coverage, found \d+/,
    edit: ({ coverage: [wallet] }) => {
      if (wallet !== undefined) wallet.transactions += 1
    },
  },
  'a wallet twice': {
    path: /coverage\[1\]\.address: expected each wallet once, found "0x/,
    edit: ({ coverage }) => {
      const [wallet] = coverage
      if (wallet !== undefined) coverage.splice(1, 0, { ...wallet, transactions: 0 })
    },
  },
  'a block range that ends before it starts': {
    path: /coverage\[0\]\.toBlock: expected 2000 at least, found 1000/,
    edit: ({ coverage: [wallet] }) => {
      if (wallet !== undefined) wallet.fromBlock = 2000
    },
  },
}

test.for(Object.entries(EDITS))('refuses a manifest with %s', async ([, { path, edit }]) => {
  const folder = tempFolder()
  const manifest = await writeLake(folder, goodLake())
  const text = () => readFileSync(join(folder, 'manifest.json'), 'utf8')
  await requireSafeManifest(folder)
  await requireManifest(folder)
  readManifest(text(), folder)
  edit(manifest)
  await saveManifest(folder, manifest)
  const refusal = { code: 'VERIFY_FAILED', message: expect.stringMatching(path) }
  await expect(requireSafeManifest(folder)).rejects.toMatchObject(refusal)
  await expect(requireManifest(folder)).rejects.toMatchObject(refusal)
  expect(() => readManifest(text(), folder)).toThrow(expect.objectContaining(refusal))
})
