import { expect, test } from 'vitest'
import { loadInto } from '../../src/load-into.ts'
import { run } from '../../src/run.ts'
import { createDataService } from '../../src/service/create-data-service.ts'
import { TABLE_NAMES } from '../../src/table/index.ts'
import { testJob } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { readCsvTable } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { truthWallets } from '../helpers/truth.ts'
import type { Cells } from '../verify/lake.ts'
import { duckdb, sqlite } from './engines.ts'
import { inOrder } from './hostile-lake.ts'

test.for([
  { engine: duckdb, format: 'parquet' as const, held: String },
  { engine: sqlite, format: 'csv' as const, held: (text: string) => text.replaceAll('\0', '\ufffd') },
])(
  'a load into $engine.name after each nightly $format run holds what the last run wrote',
  async ({ engine, format, held }) => {
    const service = createDataService({ replay: { from: 120 } })
    const { url } = await startLoopback(service)
    const place = await engine.place()
    const job = testJob({
      ...{ addresses: truthWallets.slice(0, 3), endBlock: undefined, output: tempFolder(), format },
      service: { baseUrl: url, apiKeyHeader: 'x-service-api-key', timeoutMs: 30_000 },
    })
    const loads = []
    for (let night = 0; night < 3; night += 1) {
      const { code, jobs } = await run([job])
      expect([code, jobs[0]?.error]).toEqual([undefined, undefined])
      loads.push(await loadInto(job.output, place.to))
      await service.advance(120)
    }
    expect(loads.map(({ cleared }) => cleared)).toEqual([0, 0, 0])
    expect(loads.at(-1)?.skipped).toBe(14)

    const plain = {
      ...job,
      format: 'csv' as const,
      compression: 'none' as const,
      output: tempFolder(),
      escapeFormulas: false,
    }
    await run([{ ...plain, endBlock: 360 }])
    for (const table of TABLE_NAMES) {
      const written = (await readCsvTable(plain.output, table)).map((row): Cells => {
        return Object.fromEntries(
          Object.entries(row).map(([name, cell]) => [name, cell === '' ? null : held(cell)]),
        )
      })
      const loaded = (await place.rows(table)).filter((row) => Number(row.block_number) < 360)
      expect(inOrder(loaded), table).toEqual(inOrder(written))
    }
    await service.close()
  },
)
