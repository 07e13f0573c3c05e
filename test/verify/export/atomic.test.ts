import { createHash } from 'node:crypto'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { TableName } from '../../../src/core/table/index.ts'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import { run } from '../../../src/export/run.ts'
import { verifyOutput } from '../../../src/verify/export/verify-output.ts'
import { expectValid } from '../../helpers/expect-valid.ts'
import { testJob } from '../../helpers/jobs.ts'
import { send } from '../../helpers/loopback.ts'
import { readManifest } from '../../helpers/read-output.ts'
import { serve } from '../../helpers/serve.ts'
import { suiteFolder, tempFolder } from '../../helpers/temp-folder.ts'
import { testSample } from '../../helpers/test-sample.ts'

const intact = join(suiteFolder(), 'intact')
const PAYER = '0x58a57ed9d8d624cbd12e2c467d34787555bb1b25'

async function exportTo(output: string) {
  const service = createDataService({ quirks: ['atomic-transfers'] })
  const baseUrl = await serve(async ({ method = '', url = '' }, response) =>
    send(response, await service.handle({ method, url, headers: {} })),
  )
  return run([
    testJob({
      addresses: [PAYER],
      atomic: true,
      fees: 'listed',
      endBlock: 80,
      output,
      service: { baseUrl },
    }),
  ])
}

type Tampering = { table: TableName; from: string | RegExp; to: string; says: RegExp; removesRow?: true }

/** Replaces text in the only file of a table, and updates the manifest. */
function tamper({ table, from, to, removesRow }: Tampering): string {
  const output = tempFolder()
  cpSync(intact, output, { recursive: true })
  const manifest = readManifest(output)
  const listed = manifest.tables[table]
  const [file] = listed?.files ?? []
  if (listed === undefined || file === undefined) throw new Error(`no file of ${table}`)
  const before = readFileSync(join(output, file.path), 'utf8')
  const after = before.replace(from, to)
  expect(after).not.toBe(before)
  const rows = listed.rows - (removesRow ? 1 : 0)
  const hashed = {
    sha256: createHash('sha256').update(after).digest('hex'),
    bytes: Buffer.byteLength(after),
    rows,
  }
  manifest.tables[table] = { ...listed, rows, files: [{ ...file, ...hashed }] }
  writeFileSync(join(output, file.path), after)
  writeFileSync(join(output, 'manifest.json'), JSON.stringify(manifest))
  return output
}

/** Makes the export in the first test that needs it, because its server ends with a test. */
async function exportOnce(): Promise<void> {
  if (!existsSync(intact)) expect((await exportTo(intact)).code).toBeUndefined()
}

test('an intact export has no problems', async () => {
  await exportOnce()
  await expectValid(intact)
})

const CHANGES: readonly Tampering[] = [
  {
    table: 'atomic_transactions',
    from: ',9,25500000000,25.5,',
    to: ',9,25500000001,25.500000001,',
    says: /value: expected "25500000001000000000", found "25500000000000000000"/,
  },
  {
    table: 'ledger',
    from: ',25500000000000000000,25.5,',
    to: ',25500000000000000001,25.500000000000000001,',
    says: /ledger total of .* in native/,
  },
  {
    table: 'ledger',
    from: /^.*,export,out,.*\n/m,
    to: '',
    removesRow: true,
    says: /expected export out of -10001000000000000000 .* found no such row/,
  },
  {
    table: 'atomic_transactions',
    from: ',25500000000,25.5,',
    to: ',25500000000,25.4,',
    says: /expected amount = value \/ 10\^asset_decimals, exactly, found import of 25500000000/,
  },
  {
    table: 'atomic_transactions',
    from: `import,,${PAYER}`,
    to: `import,${PAYER},`,
    says: /expected a receiver and no sender for an import/,
  },
  {
    table: 'atomic_transactions',
    from: ',9,25500000000,25.5,',
    to: ',8,25500000000,255,',
    says: /expected 9 decimals for AVAX/,
  },
  {
    table: 'atomic_transactions',
    from: /FvwEAhmx/,
    to: 'GvwEAhmx',
    says: /entry_id: expected the id of a fact in atomic_transactions/,
  },
  {
    table: 'ledger',
    from: ',import,in,',
    to: ',transfer,in,',
    says: /expected a source that matches the asset type/,
  },
  {
    table: 'transactions',
    from: /0x[0-9a-f]{64}(?=,0,)/,
    to: 'qbHNYRehmWZ975ioVyHmaHwTjXUVQGyy33WgbNQPX3Pe7ckC1',
    says: /expected .* in one table, found it in transactions too|expected lower-case/,
  },
]
testSample(3, CHANGES, 'finds a change of an import or export in the table $table: $says', async (change) => {
  await exportOnce()
  const { problems } = await verifyOutput(tamper(change))
  expect(problems).toContainEqual(expect.stringMatching(change.says))
})
