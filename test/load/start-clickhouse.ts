import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parse } from 'csv-parse/sync'
import { columnsOf, statementsOf } from './ddl/scan-statements.ts'

type StandInRow = Record<string, string | null>
type StandInRequest = {
  /** The statement, without the inserted rows. */
  readonly query: string
  readonly search: URLSearchParams
  readonly authorization: string
  readonly body: string
}
type StandInTable = { types: Map<string, string>; key: string[]; rows: StandInRow[] }

/**
 * Emulates a ClickHouse server for the few statements that a load sends, and stores their rows. It interprets the
 * statements by their text; other statements are rejected like a server would reject them.
 */
export type ClickhouseStandIn = {
  readonly port: number
  readonly requests: StandInRequest[]
  /** Rows of a table; rows with the same key are merged into the last inserted one. */
  rows(table: string): StandInRow[]
  /** Runs a statement of the user. */
  run(statement: string): void
  /** Rejects matching requests from now on; undefined accepts all. */
  refuse(what: RegExp | undefined): void
  stop(): Promise<void>
}

const QUOTING = { name: '`', backslash: true } as const

export async function startClickhouse(): Promise<ClickhouseStandIn> {
  const tables = new Map<string, StandInTable>()
  const requests: StandInRequest[] = []
  let refused: RegExp | undefined
  const server = createServer(async (request, response) => {
    const received = await readRequest(request)
    requests.push(received)
    try {
      if (refused?.test(received.query)) throw new Error('Code: 243. DB::Exception: Cannot reserve space')
      response.end(answer(received, tables))
    } catch (error) {
      fail(response, error as Error)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    rows: (name) => merged(tableAt(tables, name)),
    run: (query) => {
      answer({ query, search: new URLSearchParams(), authorization: '', body: '' }, tables)
    },
    refuse: (what) => {
      refused = what
    },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

async function readRequest(request: IncomingMessage): Promise<StandInRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks).toString()
  const search = new URL(request.url ?? '/', 'http://stand-in').searchParams
  const query = search.get('query') ?? body
  return { query, search, authorization: request.headers.authorization ?? '', body }
}

function fail(response: ServerResponse, { message }: Error): void {
  response.writeHead(500, { 'x-clickhouse-exception-code': '243' })
  response.end(`${message} (version 26.1.1.1)`)
}

function answer({ query, search, body }: StandInRequest, tables: Map<string, StandInTable>): string {
  if (/^SELECT 1\b/.test(query)) return '{"1":1}\n'
  if (/FROM system\.columns/.test(query)) return describe(tables, search)
  if (/^CREATE DATABASE/.test(query)) return ''
  if (/^CREATE TABLE/.test(query)) return create(query, tables)
  if (/^ALTER TABLE/.test(query)) return alter(query, tables)
  if (/^DROP TABLE/.test(query)) return drop(query, tables)
  if (/^DELETE FROM/.test(query)) return remove(query, { tables, search })
  const [, from] = /^SELECT \* FROM (\S+) FINAL\s+FORMAT JSONEachRow$/.exec(query.trim()) ?? []
  if (from !== undefined)
    return merged(tableAt(tables, from))
      .map((row) => `${JSON.stringify(row)}\n`)
      .join('')
  const [, counted] =
    /^SELECT count\(\) AS n FROM (\S+)(?: FINAL)?\s+FORMAT JSONEachRow$/.exec(query.trim()) ?? []
  if (counted !== undefined) return `{"n":"${merged(tableAt(tables, counted)).length}"}\n`
  const insert = /^INSERT INTO (\S+)\s*(?:\(([^)]*)\))? FORMAT (CSV|JSONEachRow)$/.exec(query.trim())
  if (insert !== null)
    return put({ table: tableAt(tables, insert[1] ?? ''), names: insert[2], format: insert[3] ?? '', body })
  throw new Error(`Code: 62. DB::Exception: Syntax error: ${query}`)
}

const bare = (name: string) => name.replaceAll('`', '').replace(/^\w+\./, '')

function tableAt(tables: Map<string, StandInTable>, name: string): StandInTable {
  const table = tables.get(bare(name))
  if (table === undefined) throw new Error(`Code: 60. DB::Exception: Unknown table ${name}`)
  return table
}

function describe(tables: Map<string, StandInTable>, search: URLSearchParams): string {
  const types = tables.get(search.get('param_table') ?? '')?.types ?? new Map<string, string>()
  return [...types].map(([name, declared]) => `${JSON.stringify({ name, declared })}\n`).join('')
}

function create(query: string, tables: Map<string, StandInTable>): string {
  const [statement = []] = statementsOf(query, QUOTING)
  const name = /^CREATE TABLE IF NOT EXISTS (\S+)/.exec(query)?.[1] ?? ''
  const types = [...columnsOf(statement)].map(([column, declared]) => {
    return [
      column,
      declared
        .replace(/ COMMENT .*$/, '')
        .replaceAll(' ', '')
        .replace(',', ', '),
    ] as const
  })
  const key = /ORDER BY \(([^)]*)\)/.exec(query)?.[1]?.split(', ').map(bare) ?? []
  if (!query.includes('ENGINE = ReplacingMergeTree') || key.length === 0)
    throw new Error('Code: 119. No engine')
  if (!tables.has(bare(name))) tables.set(bare(name), { types: new Map(types), key, rows: [] })
  return ''
}

function drop(query: string, tables: Map<string, StandInTable>): string {
  tables.delete(bare(query.replace(/^DROP TABLE /, '')))
  return ''
}

/** Adds a column, which is null in the existing rows, or drops one that is not part of the key. */
function alter(query: string, tables: Map<string, StandInTable>): string {
  const parts = /^ALTER TABLE (\S+) (ADD|DROP) COLUMN (\S+)(?: (.+))?$/.exec(query)
  if (parts === null) throw new Error(`Code: 62. DB::Exception: Syntax error: ${query}`)
  const [, name = '', action, quoted = '', type = ''] = parts
  const [table, column] = [tableAt(tables, name), bare(quoted)]
  if (table.types.has(column) === (action === 'ADD')) throw new Error(`Code: 44. Cannot alter ${column}`)
  if (action === 'ADD') table.types.set(column, type)
  else if (table.key.includes(column)) throw new Error(`Code: 524. ${column} is part of the key`)
  else table.types.delete(column)
  for (const row of table.rows) {
    if (action === 'ADD') row[column] = null
    else delete row[column]
  }
  return ''
}

/** Deletes rows by `column = {name:Type} AND …`, with the values in the URL. */
function remove(
  query: string,
  { tables, search }: { tables: Map<string, StandInTable>; search: URLSearchParams },
): string {
  const [, name = '', where = ''] = /^DELETE FROM (\S+) WHERE ([\s\S]+)$/.exec(query) ?? []
  const conditions = where.split(' AND ').map((condition) => {
    const parts = /^(\w+) (=|>=|<) \{(\w+):(String|Int64)\}$/.exec(condition)
    if (parts === null) throw new Error(`Code: 62. DB::Exception: Syntax error: ${condition}`)
    return { column: parts[1] ?? '', sign: parts[2], value: search.get(`param_${parts[3]}`) ?? '' }
  })
  const table = tableAt(tables, name)
  table.rows = table.rows.filter((row) => !conditions.every((condition) => holds(row, condition)))
  return ''
}

function holds(
  row: StandInRow,
  { column, sign, value }: { column: string; sign: string | undefined; value: string },
) {
  const cell = row[column] ?? ''
  if (sign === '=') return cell === value
  return sign === '<' ? BigInt(cell) < BigInt(value) : BigInt(cell) >= BigInt(value)
}

type Put = { table: StandInTable; names: string | undefined; format: string; body: string }

function put({ table, names, format, body }: Put): string {
  if (format === 'JSONEachRow') {
    for (const line of body.trim().split('\n'))
      table.rows.push(
        Object.fromEntries(
          Object.entries(JSON.parse(line) as object).map(([name, cell]) => [name, String(cell)]),
        ),
      )
    return ''
  }
  const columns = (names ?? '').split(',').map((name) => bare(name.trim()))
  const unknown = columns.find((name) => !table.types.has(name))
  if (unknown !== undefined) throw new Error(`Code: 16. DB::Exception: No such column ${unknown} in table`)
  const rows = parse(body, { cast: (cell, { quoting }) => (cell === '' && !quoting ? null : cell) }) as (
    | string
    | null
  )[][]
  for (const row of rows) {
    if (row.length !== columns.length) throw new Error('Code: 27. DB::Exception: Cannot parse input')
    table.rows.push(Object.fromEntries(columns.map((name, at) => [name, row[at] ?? null])))
  }
  return ''
}

function merged({ rows, key }: StandInTable): StandInRow[] {
  return [...new Map(rows.map((row) => [key.map((name) => row[name]).join('|'), row])).values()]
}
