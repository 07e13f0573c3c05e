// Parquet rows written per CPU second: the writer of this project (staged lines, DuckDB) compared with parquetjs-lite.
// Both write the same transfers. hyparquet counts the rows of both files.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet'
import parquetjs from 'parquetjs-lite'
import { tableByName } from '../../dist/core/table/index.js'
import { appendLines, openAppendFile } from '../../dist/files/chunk.js'
import { writeTable } from '../../dist/files/write-table.js'
import { FORMATS } from '../../dist/formats/index.js'

const table = tableByName('erc20_transfers')

export async function benchParquet(count = 200_000) {
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-bench-'))
  const ours = await rowsPerCpuSecond(count, () => writeWithWalletlake(folder, count))
  const theirs = await rowsPerCpuSecond(count, () =>
    writeWithParquetjs(join(folder, 'theirs.parquet'), count),
  )
  rmSync(folder, { recursive: true })
  console.table([
    { writer: 'walletlake (DuckDB)', rowsPerCpuSecond: ours },
    { writer: 'parquetjs-lite 0.8.7', rowsPerCpuSecond: theirs },
    { writer: 'ratio', rowsPerCpuSecond: Number((ours / theirs).toFixed(1)) },
  ])
}

/** Rows per CPU second of a task that resolves to the path of its file. Throws if rows are missing in the file. */
async function rowsPerCpuSecond(count, task) {
  const before = process.cpuUsage()
  const path = await task()
  const { user, system } = process.cpuUsage(before)
  const { num_rows } = await parquetMetadataAsync(await asyncBufferFromFile(path))
  if (Number(num_rows) !== count) throw new Error(`${path} holds ${num_rows} rows`)
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

/** The same row by column name. */
function cellsAt(n) {
  const cells = rowAt(n)
  return Object.fromEntries(table.columns.map(({ name }, at) => [name, cells[at]]))
}

/** Writes rows as staged lines and converts these to one Parquet file. Resolves to its path. */
async function writeWithWalletlake(folder, count) {
  const how = { format: 'parquet', compression: 'snappy', escapeFormulas: false, maxRowsPerFile: count }
  const lines = FORMATS.parquet.createLineFormatter(how).createLineBuffer(table.columns)
  const file = openAppendFile(join(folder, 'staged'))
  const chunks = []
  for (let n = 0; n < count; n += 1) {
    lines.add(cellsAt(n))
    if (lines.size() > 1 << 18) chunks.push(appendLines(file, lines.drain()))
  }
  chunks.push(appendLines(file, lines.drain()))
  file.close()
  const files = { ...how, table, folder, chunks, range: { from: 0, to: count } }
  const [part] = await writeTable(files)
  return part.staged
}

const LITE_TYPES = { int32: 'INT32', int64: 'INT64', bool: 'BOOLEAN', time: 'TIMESTAMP_MILLIS' }

async function writeWithParquetjs(path, count) {
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
  return path
}
