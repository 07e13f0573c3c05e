import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { TABLE_NAMES } from '../../../src/core/table/index.ts'
import { verifyOutput } from '../../../src/verify/export/verify-output.ts'
import { testSample } from '../../helpers/test-sample.ts'
import { A, entryId, goodLake, lakeWithTopLevelCall, TOP_LEVEL_ID } from './model-export.ts'
import { saveManifest, writeLake } from './write-model-export.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'walletlake-test-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test('finds a ledger row that duplicates the top-level call', async () => {
  const lake = lakeWithTopLevelCall()
  const [, outgoing] = lake.ledger
  const { chain_id, transaction_hash } = outgoing ?? {}
  const parts = [
    chain_id ?? '',
    transaction_hash ?? '',
    A,
    'internal_transactions',
    TOP_LEVEL_ID,
    'transfer',
    'out',
  ]
  const twice = { source: 'internal_transactions', entry_index: '2', entry_id: entryId(parts) }
  lake.ledger.splice(2, 0, { ...outgoing, ...twice })
  await writeLake(folder, lake)
  const { problems } = await verifyOutput(folder)
  expect(problems).toContainEqual(
    expect.stringMatching(/row 3: entry_id: expected the id of a fact in internal_tr/),
  )
})

describe('a valid export', () => {
  test.for(['csv', 'csv.gz', 'parquet'] as const)('passes every check as %s', async (ending) => {
    await writeLake(folder, goodLake(), { ending })
    const verdict = await verifyOutput(folder)
    expect(verdict.problems).toEqual([])
    expect(verdict).toMatchObject({ ok: true, files: 8, rows: 45 })
    expect(verdict.checks).toBeGreaterThan(200)
  })

  test('passes if formulas are not escaped', async () => {
    await writeLake(folder, goodLake(), { escapeFormulas: false })
    expect((await verifyOutput(folder)).problems).toEqual([])
  })

  test('passes if the top-level call is an internal transaction without a ledger row', async () => {
    await writeLake(folder, lakeWithTopLevelCall())
    expect(await verifyOutput(folder)).toMatchObject({ problems: [], topLevelCalls: 1 })
  })

  test('passes if a reverted call that equals the top-level call precedes it', async () => {
    const lake = lakeWithTopLevelCall()
    const [call] = lake.internal_transactions
    lake.internal_transactions.unshift({ ...call, reverted: 'true' })
    Object.assign(call ?? {}, { internal_id: TOP_LEVEL_ID.replace(/0$/, '1') })
    for (const row of lake.wallet_transactions.slice(0, 2)) row.internal_transactions = '2'
    await writeLake(folder, lake)
    expect((await verifyOutput(folder)).problems).toEqual([])
  })

  test('passes if transfers without log index are identified by their content', async () => {
    const lake = goodLake()
    const [transfer] = lake.erc721_transfers
    const { token_address, from_address, to_address, token_id } = transfer ?? {}
    const content = JSON.stringify([token_address, from_address, to_address, token_id, null])
    const id = `${createHash('sha256').update(content).digest('hex').slice(0, 16)}-0`
    Object.assign(transfer ?? {}, { log_index: '', transfer_id: id })
    await writeLake(folder, lake)
    const { problems } = await verifyOutput(folder)
    // The ledger of the model has the id of the log.
    expect(problems.filter((problem) => !problem.startsWith('ledger'))).toEqual([])
    expect(problems.join()).toContain('expected the id of a fact in erc721_transfers')
  })

  test('passes if the position and the block hash of the last transaction of a block are unknown', async () => {
    const lake = goodLake()
    const [last] = lake.transactions.slice(-1)
    const rows = TABLE_NAMES.flatMap((table) => lake[table])
    for (const row of rows.filter((one) => one.transaction_hash === last?.transaction_hash))
      Object.assign(row, { block_hash: '', transaction_index: '' })
    await writeLake(folder, lake)
    expect((await verifyOutput(folder)).problems).toEqual([])
  })

  testSample(
    1,
    ['ledger', ...TABLE_NAMES.filter((name) => name !== 'ledger')] as const,
    'passes without the table %s',
    async (missing) => {
      await writeLake(folder, goodLake(), { tables: TABLE_NAMES.filter((name) => name !== missing) })
      expect((await verifyOutput(folder)).problems).toEqual([])
    },
  )

  testSample(1, ['csv', 'parquet'] as const, 'passes without any rows as %s', async (ending) => {
    const none = Object.fromEntries(TABLE_NAMES.map((name) => [name, []])) as unknown as ReturnType<
      typeof goodLake
    >
    await writeLake(folder, none, { ending })
    expect(await verifyOutput(folder)).toMatchObject({ ok: true, files: 7, rows: 0, problems: [] })
  })

  testSample(
    1,
    ['parquet', 'csv', 'csv.gz'] as const,
    'passes with images and unusual characters in a %s cell',
    async (ending) => {
      const lake = goodLake()
      const picture = `data:image/svg+xml,"${'<g/>,\n'.repeat(500_000)}"`
      Object.assign(lake.erc721_transfers[0] ?? {}, {
        metadata_image_uri: picture,
        metadata_name: "\r\\N 'NULL' 😀",
      })
      await writeLake(folder, lake, { ending, tables: ['erc721_transfers'] })
      expect((await verifyOutput(folder)).problems).toEqual([])
    },
  )

  testSample(1, ['csv', 'csv.gz'] as const, 'passes with a row of 20 MiB in a %s file', async (ending) => {
    const lake = goodLake()
    const picture = `data:image/svg+xml,"${'<g/>,\n'.repeat(3_500_000)}"`
    Object.assign(lake.erc721_transfers[0] ?? {}, { metadata_image_uri: picture })
    await writeLake(folder, lake, { ending, tables: ['erc721_transfers'] })
    expect((await verifyOutput(folder)).problems).toEqual([])
  })

  test('passes in a folder whose name contains glob characters', async () => {
    const odd = join(folder, "it's [a-z]*?")
    await mkdir(odd)
    await writeLake(odd, goodLake(), { tables: ['ledger'] })
    expect((await verifyOutput(odd)).problems).toEqual([])
  })

  test('passes if a rejected record explains a missing row', async () => {
    const manifest = await writeLake(folder, goodLake())
    if (manifest.coverage[0] !== undefined) manifest.coverage[0].transactions += 1
    await saveManifest(folder, { ...manifest, rejects: 1 })
    await writeFile(join(folder, 'rejects.ndjson'), '{"reason":"no hash"}\n')
    expect((await verifyOutput(folder)).problems).toEqual([])
  })

  test('reports files that the manifest does not list', async () => {
    await writeLake(folder, goodLake(), { tables: ['ledger'] })
    await writeFile(join(folder, 'ledger', 'notes.txt'), 'mine')
    const messages: string[] = []
    const verdict = await verifyOutput(folder, { onProgress: (message) => messages.push(message) })
    expect(verdict.ok).toBe(true)
    expect(messages).toContain('not in the manifest, not checked: ledger/notes.txt')
  })

  test('leaves nothing in the temporary folder', async () => {
    await writeLake(folder, goodLake(), { tables: ['ledger'] })
    const scratch = join(folder, 'scratch')
    await mkdir(scratch)
    const before = process.env.TMPDIR
    process.env.TMPDIR = scratch
    await verifyOutput(folder).finally(() => restoreTmp(before))
    expect(await readdir(scratch)).toEqual([])
  })
})

function restoreTmp(before: string | undefined): void {
  if (before === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = before
}

test('rejects a folder that does not exist as a usage error', async () => {
  await expect(verifyOutput(join(folder, 'nowhere'))).rejects.toMatchObject({ code: 'USAGE' })
})

test.for([
  { what: 'an empty folder', holds: [] },
  { what: 'a folder of other files', holds: ['notes', 'photos'] },
])('rejects $what as a usage error, not as damage', async ({ holds }) => {
  for (const name of holds) await mkdir(join(folder, name))
  await expect(verifyOutput(folder)).rejects.toMatchObject({
    code: 'USAGE',
    message: `${folder} holds no finished export (no manifest.json)`,
  })
})

test.for(['.walletlake', 'runs', 'rejects.ndjson', ...TABLE_NAMES])(
  'reports damage if a folder with %s has no manifest',
  async (name) => {
    await mkdir(join(folder, name))
    const { ok, problems } = await verifyOutput(folder)
    expect({ ok, problems }).toEqual({
      ok: false,
      problems: ['manifest.json: cannot be read (ENOENT)'],
    })
  },
)

test.skipIf(process.getuid?.() === 0)('does not report an unreadable manifest as damage', async () => {
  await writeLake(folder, goodLake())
  await chmod(join(folder, 'manifest.json'), 0)
  await expect(verifyOutput(folder)).rejects.toMatchObject({
    code: 'OUTPUT_FAILED',
    fix: 'Check the permissions of the path, then run again.',
  })
})

test('lists at most fifty problems and counts the others', async () => {
  const manifest = await writeLake(folder, goodLake())
  const [wallet] = manifest.coverage
  await saveManifest(folder, { ...manifest, coverage: Array.from({ length: 100 }, () => wallet) })
  const { ok, problems } = await verifyOutput(folder)
  expect(ok).toBe(false)
  expect(problems).toHaveLength(51)
  expect(problems.at(-1)).toMatch(/^and \d+ more$/)
})

describe('an export that is replaced while it is verified', () => {
  /** Renames a file of the export, as a run that replaces files does, when it is about to be read. */
  async function verifyWhileReplaced(replacements: number) {
    const manifest = await writeLake(folder, goodLake(), { tables: ['ledger'] })
    mkdirSync(join(folder, 'ledger'), { recursive: true })
    writeFileSync(join(folder, 'ledger', 'unlisted'), '')
    const messages: string[] = []
    const onProgress = (message: string) => {
      messages.push(message)
      const starts = messages.filter((one) => one.startsWith('not in the manifest')).length
      if (!message.endsWith('ledger/unlisted') || starts > replacements) return
      const [file] = manifest.tables.ledger?.files ?? []
      if (file === undefined) throw new Error('there is no file')
      const path = file.path.replace(/-\d+\.csv$/, `-${7000 + starts}.csv`)
      renameSync(join(folder, file.path), join(folder, path))
      file.path = path
      writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest))
    }
    return { verdict: await verifyOutput(folder, { onProgress }), messages }
  }

  test('is verified again', async () => {
    const { verdict, messages } = await verifyWhileReplaced(2)
    expect(verdict).toMatchObject({ ok: true, problems: [] })
    expect(messages.filter((one) => one.includes('verifying it again'))).toHaveLength(2)
  })

  test('gets no verdict if it is replaced each time', async () => {
    await expect(verifyWhileReplaced(3)).rejects.toMatchObject({
      code: 'OUTPUT_LOCKED',
      message: expect.stringContaining('another run replaced the export'),
    })
  })
})
