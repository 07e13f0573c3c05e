import { quoteLiteral } from '../core/platform/sql.ts'
import type { LoggedRequest, ReindexOutcome, Token } from './request-log.ts'

/** The database operations for reading an export's tokens. */
export type TokenSql = {
  run(sql: string): Promise<void>
  all(sql: string): Promise<Record<string, unknown>[]>
  /** Runs a statement for each file of a table, with the source of its rows. */
  eachFile(table: NftTable, statement: (source: string) => string): Promise<void>
}
type NftTable = 'erc721_transfers' | 'erc1155_transfers'

/** Rows per statement. */
const BATCH_ROWS = 2_000

/** Loads the last row of every token into the table `tokens`. */
export async function loadTokens(sql: TokenSql): Promise<void> {
  await sql.run(
    `CREATE TABLE transfers (address VARCHAR, id VARCHAR, status VARCHAR, updated_ms BIGINT, named BOOLEAN,
     block BIGINT, tx BIGINT, log BIGINT, ordinal BIGINT)`,
  )
  for (const table of ['erc721_transfers', 'erc1155_transfers'] as const) {
    const ordinal = table === 'erc1155_transfers' ? 'transfer_ordinal' : '0'
    await sql.eachFile(
      table,
      (source) =>
        `INSERT INTO transfers SELECT token_address, token_id, metadata_index_status,
         epoch_us(CAST(metadata_updated_at AS TIMESTAMPTZ)) // 1000, metadata_name IS NOT NULL,
         block_number, transaction_index, log_index, ${ordinal} FROM ${source}`,
    )
  }
  await sql.run(
    `CREATE TABLE tokens AS SELECT address, id, status, updated_ms, named FROM transfers
     QUALIFY row_number() OVER
       (PARTITION BY address, id ORDER BY block DESC, tx DESC, log DESC, ordinal DESC) = 1`,
  )
}

/** Loads the request log of earlier runs. The last entry of a token counts. */
export async function loadRequestLog(sql: TokenSql, entries: AsyncIterable<LoggedRequest>): Promise<void> {
  await sql.run(
    `CREATE TABLE log_entries (seq BIGINT, address VARCHAR, id VARCHAR, answer VARCHAR, at_ms BIGINT, until_ms BIGINT)`,
  )
  let position = 0
  let batch: string[] = []
  const flush = async () => {
    if (batch.length > 0) await sql.run(`INSERT INTO log_entries VALUES ${batch.join(', ')}`)
    batch = []
  }
  for await (const { address, id, answer, atMs, untilMs } of entries) {
    position += 1
    batch.push(
      `(${position}, ${quoteLiteral(address)}, ${quoteLiteral(id)}, '${answer}', ${atMs}, ${untilMs})`,
    )
    if (batch.length === BATCH_ROWS) await flush()
  }
  await flush()
  await sql.run(
    `CREATE TABLE last_requests AS SELECT * EXCLUDE (seq) FROM log_entries
     QUALIFY row_number() OVER (PARTITION BY address, id ORDER BY seq DESC) = 1`,
  )
}

/** Yields the last log entry of each token, except for requests that were not sent. */
export async function* previousRequests(sql: TokenSql): AsyncGenerator<LoggedRequest[], void, void> {
  yield* inBatches(sql, `SELECT rowid AS seq, * FROM last_requests WHERE answer <> 'unsent'`, (row) => ({
    ...tokenOf(row),
    answer: row.answer as ReindexOutcome,
    atMs: Number(row.at_ms),
    untilMs: Number(row.until_ms),
  }))
}

export type StalenessLimit = { nowMs: number; olderThanMs: number | undefined }
export type TokenCounts = {
  /** Tokens in the export. */
  tokens: number
  /** Of these, tokens without valid metadata. */
  missing: number
  /** Of these, tokens with metadata that is too old or of unknown age. */
  old: number
  /** Of `missing` and `old`, tokens that must not be requested yet. */
  recentlyRequested: number
  /** Of these, tokens whose request no response has confirmed. */
  unconfirmed: number
}

/** Creates the table of tokens to request, and counts them. */
export async function selectStaleTokens(
  sql: TokenSql,
  { nowMs, olderThanMs }: StalenessLimit,
): Promise<TokenCounts> {
  // An accepted request counts as an update, because until the next export nothing else shows that metadata is newer.
  const newest = `greatest(updated_ms, CASE WHEN answer IN ('accepted', 'limited') THEN at_ms END)`
  const old = olderThanMs === undefined ? 'false' : `coalesce(${newest}, 0) < ${nowMs - olderThanMs}`
  await sql.run(
    `CREATE TABLE stale_tokens AS SELECT *, row_number() OVER (ORDER BY address, id) AS seq FROM (
       SELECT address, id, coalesce(until_ms, 0) > ${nowMs} AS is_recent, answer, CASE
         WHEN status IS NULL THEN 'no status'
         WHEN upper(status) <> 'INDEXED' THEN status
         WHEN NOT named THEN 'no name'
         WHEN ${old} THEN 'old' END AS reason
       FROM tokens LEFT JOIN last_requests USING (address, id)) WHERE reason IS NOT NULL`,
  )
  const [counts] = await sql.all(
    `SELECT (SELECT count(*) FROM tokens) AS tokens, count(*) FILTER (reason <> 'old') AS missing,
     count(*) FILTER (reason = 'old') AS old, count(*) FILTER (is_recent) AS recent,
     count(*) FILTER (is_recent AND answer = 'pending') AS unconfirmed FROM stale_tokens`,
  )
  const { tokens, missing, old: oldCount, recent, unconfirmed } = counts ?? {}
  return {
    tokens: Number(tokens),
    missing: Number(missing),
    old: Number(oldCount),
    recentlyRequested: Number(recent),
    unconfirmed: Number(unconfirmed),
  }
}

export type StaleToken = Token & {
  /** Why the token is requested: its status in the export, `no status`, `no name` or `old`. */
  reason: string
}

/** Yields the tokens to request now, by contract and id. */
export async function* staleTokens(sql: TokenSql): AsyncGenerator<StaleToken, void, void> {
  const toStaleToken = (row: Record<string, unknown>) => ({ ...tokenOf(row), reason: String(row.reason) })
  for await (const batch of inBatches(sql, 'SELECT * FROM stale_tokens WHERE NOT is_recent', toStaleToken))
    yield* batch
}

async function* inBatches<T>(
  sql: TokenSql,
  query: string,
  read: (row: Record<string, unknown>) => T,
): AsyncGenerator<T[], void, void> {
  let last = -1n
  for (;;) {
    const rows = await sql.all(
      `SELECT * FROM (${query}) WHERE seq > ${last} ORDER BY seq LIMIT ${BATCH_ROWS}`,
    )
    if (rows.length === 0) return
    last = BigInt(rows.at(-1)?.seq as bigint)
    yield rows.map(read)
  }
}

function tokenOf(row: Record<string, unknown>): Token {
  return { address: String(row.address), id: String(row.id) }
}
