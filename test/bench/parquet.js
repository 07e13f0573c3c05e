// Rows a CPU second of Parquet writing: the shipped writer (staged JSON lines, DuckDB) against parquetjs-lite.
// Both write the same transfers; the result of each is counted with hyparquet.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet'
import parquetjs from 'parquetjs-lite'
import { tableNamed } from '../../dist/table/index.js'
import { openParquet } from '../../dist/write/parquet.js'

const table = tableNamed('erc20_transfers')

export async function benchParquet(count = 200_000) {
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-bench-'))
  const ours = await timed(count, () => writeOurs(join(folder, 'ours.parquet'), count))
  const theirs = await timed(count, () => writeTheirs(join(folder, 'theirs.parquet'), count))
  for (const file of ['ours.parquet', 'theirs.parquet']) {
    const { num_rows } = await parquetMetadataAsync(await asyncBufferFromFile(join(folder, file)))
    if (Number(num_rows) !== count) throw new Error(`${file} holds ${num_rows} rows`)
  }
  rmSync(folder, { recursive: true })
  console.table([
    { writer: 'walletlake (DuckDB)', rowsPerCpuSecond: ours },
    { writer: 'parquetjs-lite 0.8.7', rowsPerCpuSecond: theirs },
    { writer: 'ratio', rowsPerCpuSecond: Number((ours / theirs).toFixed(1)) },
  ])
}

async function timed(count, task) {
  const before = process.cpuUsage()
  await task()
  const { user, system } = process.cpuUsage(before)
  return Math.round((count * 1e6) / (user + system))
}

function rowAt(n) {
  const hash = `0x${n.toString(16).padStart(64, '0')}`
  const party = `0x${(n % 997).toString(16).padStart(40, '0')}`
  const prefix = ['43114', n, hash, 1_700_000_000_000 + n * 1000, hash, 0]
  return [
    ...prefix,
    1,
    party,
    'USD Coin',
    'USDC',
    6,
    party,
    null,
    party,
    null,
    `${n}000000`,
    String(n),
    null,
    null,
  ]
}

async function writeOurs(path, count) {
  const writer = openParquet({ path, table, compression: 'snappy' })
  for (let at = 0; at < count; at += 500)
    await writer.write(Array.from({ length: 500 }, (_, n) => rowAt(at + n)))
  await writer.finish()
}

const LITE_TYPES = { int32: 'INT32', int64: 'INT64', bool: 'BOOLEAN', time: 'TIMESTAMP_MILLIS' }

async function writeTheirs(path, count) {
  const fields = table.columns.map(({ name, type, nullable }) => {
    return [name, { type: LITE_TYPES[type] ?? 'UTF8', optional: nullable, compression: 'SNAPPY' }]
  })
  const writer = await parquetjs.ParquetWriter.openFile(
    new parquetjs.ParquetSchema(Object.fromEntries(fields)),
    path,
  )
  writer.setRowGroupSize(100_000)
  for (let n = 0; n < count; n += 1) {
    const cells = table.columns
      .map(({ name }, at) => [name, rowAt(n)[at]])
      .filter(([, cell]) => cell !== null)
    await writer.appendRow(Object.fromEntries(cells))
  }
  await writer.close()
}
