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
      answer({ query, body: '' }, tables)
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

function answer(
  { query, body }: Pick<StandInRequest, 'query' | 'body'>,
  tables: Map<string, StandInTable>,
): string {
  if (/^SELECT 1\s+FORMAT/.test(query)) return '{"1":1}\n'
  if (/FROM system\.columns/.test(query)) return describe(tables, query)
  if (/^CREATE DATABASE/.test(query)) return ''
  if (/^CREATE TABLE \S+ ENGINE = MergeTree/.test(query)) return createStage(query, tables)
  if (/^CREATE TABLE/.test(query)) return create(query, tables)
  if (/^ALTER TABLE/.test(query)) return alter(query, tables)
  if (/^DROP TABLE/.test(query)) return drop(query, tables)
  if (/^DELETE FROM/.test(query)) return remove(query, tables)
  const [, from] = /^SELECT \* FROM (\S+) FINAL\s+FORMAT JSONEachRow$/.exec(query.trim()) ?? []
  if (from !== undefined)
    return merged(tableAt(tables, from))
      .map((row) => `${JSON.stringify(row)}\n`)
      .join('')
  const [, first] = /^SELECT 1 FROM (\S+) LIMIT 1\s+FORMAT JSONEachRow$/.exec(query.trim()) ?? []
  if (first !== undefined) return tableAt(tables, first).rows.length === 0 ? '' : '{"1":1}\n'
  if (/^SELECT \S+(?:, \S+)* FROM \S+ FINAL WHERE/.test(query)) return findStaged(query, tables)
  if (/^INSERT INTO \S+ \([^)]*\) SELECT/.test(query)) return insertDifference(query, tables)
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

function describe(tables: Map<string, StandInTable>, query: string): string {
  const types = tables.get(/ AND table = '(\w+)'/.exec(query)?.[1] ?? '')?.types ?? new Map<string, string>()
  return [...types]
    .map(([name, declared]) => `${JSON.stringify({ name, type: declared, filled: 0 })}\n`)
    .join('')
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
  tables.delete(bare(query.replace(/^DROP TABLE (?:IF EXISTS )?/, '')))
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

/** Creates a table with the columns of another one, without rows and without a key. */
function createStage(query: string, tables: Map<string, StandInTable>): string {
  const [, name = '', columns = '', from = ''] =
    /^CREATE TABLE (\S+) ENGINE = MergeTree ORDER BY tuple\(\) AS SELECT (.+) FROM (\S+) WHERE 1 = 0$/.exec(
      query,
    ) ?? []
  if (tables.has(bare(name))) throw new Error(`Code: 57. Table ${name} already exists`)
  const { types } = tableAt(tables, from)
  const names = columns.split(', ').map(bare)
  tables.set(bare(name), {
    types: new Map(names.map((column) => [column, types.get(column) ?? ''])),
    key: [],
    rows: [],
  })
  return ''
}

/** The first row whose key is in the stage, of these chains and blocks. */
function findStaged(query: string, tables: Map<string, StandInTable>): string {
  const [, name = '', where = ''] = /FROM (\S+) FINAL WHERE ([\s\S]+) LIMIT 1\s+FORMAT/.exec(query) ?? []
  const row = merged(tableAt(tables, name)).find(conditionOf(where, tables))
  return row === undefined ? '' : `${JSON.stringify(row)}\n`
}

/** Inserts the rows of the stage that differ from the row with their key. */
function insertDifference(query: string, tables: Map<string, StandInTable>): string {
  const parts =
    /^INSERT INTO (\S+) \((.+)\) SELECT \2 FROM (\S+) EXCEPT SELECT \2 FROM \1 FINAL WHERE \((.+)\) IN \(SELECT \4 FROM \3\)$/.exec(
      query,
    )
  if (parts === null) throw new Error(`Code: 62. DB::Exception: Syntax error: ${query}`)
  const [, name = '', columns = '', stage = ''] = parts
  const textOf = (row: StandInRow) =>
    JSON.stringify(columns.split(', ').map((column) => row[bare(column)] ?? null))
  const existing = new Set(merged(tableAt(tables, name)).map(textOf))
  const added = tableAt(tables, stage).rows.filter((row) => !existing.has(textOf(row)))
  tableAt(tables, name).rows.push(...added)
  return ''
}

/** Deletes rows by conditions joined with AND. */
function remove(query: string, tables: Map<string, StandInTable>): string {
  const [, name = '', where = ''] = /^DELETE FROM (\S+) WHERE ([\s\S]+)$/.exec(query) ?? []
  const table = tableAt(tables, name)
  const isRemoved = conditionOf(where, tables)
  table.rows = table.rows.filter((row) => !isRemoved(row))
  return ''
}

/** Interprets the conditions that a load uses. */
function conditionOf(where: string, tables: Map<string, StandInTable>): (row: StandInRow) => boolean {
  const conditions = where.split(/ AND (?![^(]*\))/).map((text): ((row: StandInRow) => boolean) => {
    const [, column = '', literal] = /^(\w+) = '([^'\\]*)'$/.exec(text) ?? []
    if (literal !== undefined) return (row) => row[column] === literal
    const [, chains] = /^chain_id IN \((.+)\)$/.exec(text) ?? []
    if (chains !== undefined) return ({ chain_id: id }) => chains.split(', ').includes(`'${id}'`)
    const ranges = [...text.matchAll(/\(block_number >= (\d+) AND block_number < (\d+)\)/g)]
    if (ranges.length > 0)
      return ({ block_number: block }) =>
        ranges.some(([, from, to]) => Number(block) >= Number(from) && Number(block) < Number(to))
    const [, columns = '', not, stage] = /^\((.+?)\) (NOT )?IN \(SELECT \1 FROM (\S+)\)$/.exec(text) ?? []
    if (stage === undefined) throw new Error(`Code: 62. DB::Exception: Syntax error: ${text}`)
    const keyOf = (row: StandInRow) => JSON.stringify(columns.split(', ').map((name) => row[bare(name)]))
    const staged = new Set(tableAt(tables, stage).rows.map(keyOf))
    return (row) => staged.has(keyOf(row)) === (not === undefined)
  })
  return (row) => conditions.every((holds) => holds(row))
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
