import { expect } from 'vitest'
import type { Compression, FormatName } from '../../src/core/model/model.ts'
import { loadInto } from '../../src/load/load.ts'
import { auditOutput } from '../../src/verify/audit/audit.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { expectSameAsFresh, growingChain, headJob, mergeFiles, runOnce } from '../helpers/growing-chain.ts'
import { readManifest } from '../helpers/read-output.ts'
import { testSample } from '../helpers/test-sample.ts'
import { duckdb, sqlite } from '../load/engines.ts'

const CASES: { format: FormatName; nights: readonly Compression[]; endings: readonly string[] }[] = [
  { format: 'csv', nights: ['none', 'gzip'], endings: ['csv', 'gz'] },
  { format: 'parquet', nights: ['zstd', 'none', 'gzip'], endings: ['parquet', 'parquet', 'parquet'] },
]

const endingsOf = (output: string) =>
  readManifest(output).tables.transactions?.files.map(({ path }) => path.split('.').at(-1))

testSample(
  0,
  CASES,
  '$format runs with the compressions $nights form one valid export',
  async ({ format, nights, endings }) => {
    const chain = await growingChain(60)
    const job = headJob(chain.url, { format, escapeFormulas: false })
    const places = [await duckdb.place(), await sqlite.place()]
    for (const [night, compression] of nights.entries()) {
      if (night > 0) await chain.advance(60)
      await runOnce({ ...job, compression })
      for (const { to } of places) await loadInto(job.output, to)
    }
    expect(endingsOf(job.output)).toEqual(endings)
    await expectSameAsFresh(job)
    for (const { run } of places) {
      const [counted] = await run('SELECT count(*) AS n FROM ledger')
      expect(Number(counted?.n)).toBe(readManifest(job.output).tables.ledger?.rows)
    }
    expect(await auditOutput(job.output, { service: { baseUrl: chain.url }, blocks: 'all' })).toMatchObject({
      ok: true,
      differing: 0,
    })
    await mergeFiles(job)
    await expectValid(job.output)
    await chain.advance(60)
    await runOnce({ ...job, compression: nights[1] ?? 'none' }, { lookbackBlocks: 100 })
    await expectSameAsFresh(job)
  },
)
