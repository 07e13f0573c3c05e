// What users would write to load an export's CSV files: one insert per row into SQLite, or one CREATE TABLE AS per table in
// DuckDB, with the types of the columns.
// Usage: node plain-load.js sqlite|duckdb <folder of the export> <database>
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { parse } from 'csv-parse/sync'
import sqlite from 'node-sqlite3-wasm'
import { TABLES } from '../../dist/core/table/index.js'
import { typedColumns } from '../../dist/formats/column-sql.js'

const [engine, folder, database] = process.argv.slice(2)
const exported = new Set(readdirSync(folder))
const tables = TABLES.filter(({ name }) => exported.has(name)).map(({ name, columns }) => {
  const files = readdirSync(join(folder, name)).map((file) => join(folder, name, file))
  return { name, columns: typedColumns(columns), files }
})

function loadSqlite() {
  const db = new sqlite.Database(database)
  db.exec('begin')
  for (const { name, columns, files } of tables) {
    db.exec(`create table ${name} (${columns.map((column) => `"${column.name}"`)})`)
    const insert = db.prepare(`insert into ${name} values (${columns.map(() => '?')})`)
    for (const file of files)
      for (const row of parse(readFileSync(file), { from_line: 2 }))
        insert.run(row.map((cell) => (cell === '' ? null : cell)))
    insert.finalize()
  }
  db.exec('commit')
  db.close()
}

async function loadDuckDb() {
  const instance = await DuckDBInstance.create(database)
  const connection = await instance.connect()
  for (const { name, columns, files } of tables) {
    const types = columns.map((column) => `"${column.name}": '${column.type}'`)
    const paths = files.map((file) => `'${file}'`)
    await connection.run(
      `create table ${name} as select * from read_csv([${paths}], header = true, auto_detect = false, delim = ',', quote = '"', escape = '"', columns = {${types}})`,
    )
  }
  connection.closeSync()
  instance.closeSync()
}

await (engine === 'sqlite' ? loadSqlite() : loadDuckDb())
