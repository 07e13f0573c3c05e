import type { TableName } from '../../core/table/index.ts'
import { type CheckedExport, expectNone, expectNoRow, hasRows } from './checked-export.ts'

/**
 * Checks how rows are identified (CONTRACT section 2.4): internal transactions by a hash of their content, token
 * transfers by their log or, if the service reports none, by a hash of their content.
 */
export async function checkIdentities(checkedExport: CheckedExport): Promise<void> {
  if (hasRows(checkedExport, 'internal_transactions')) await checkInternalIds(checkedExport)
  for (const name of ERC_TABLES) if (hasRows(checkedExport, name)) await checkTransferIds(checkedExport, name)
  await checkLogs(checkedExport)
}

/** A JSON array of texts or nulls. */
const jsonArray = (cells: readonly string[]) =>
  `'[' || ${cells.map((cell) => `coalesce('"' || ${cell} || '"', 'null')`).join(` || ',' || `)} || ']'`
/** Restricts a check to texts that need no escaping in JSON. */
const isPlain = (columns: readonly string[]) =>
  columns.map((name) => `regexp_full_match(coalesce(${name}, ''), '[0-9a-z]*')`).join(' AND ')
const PARTIES = ['from_address', 'to_address']
const hashOf = (content: string) => `left(sha256(${content}), 16)`

/**
 * SQL for the rows whose content has more than one row in its transaction, or a wrong id: most rows have the id of the first
 * one. `checkKeys` finds rows with the same id.
 */
const notFirstOnly = (table: string, id: string, hash: string) =>
  `${table} SEMI JOIN (SELECT transaction_hash FROM ${table} WHERE ${id} IS DISTINCT FROM ${hash} || '-0') AS others
     USING (transaction_hash)`

/** Checks internal_id: a hash of from, to and value, and the position among equal rows of the transaction. */
async function checkInternalIds(checkedExport: CheckedExport): Promise<void> {
  const number = `row_number() OVER (PARTITION BY transaction_hash, from_address, to_address, value ORDER BY f, r) - 1`
  const hash = hashOf(jsonArray([...PARTIES, 'value']))
  await expectNoRow(
    checkedExport,
    'internal_transactions',
    `SELECT f, r, internal_id, expected FROM
            (SELECT f, r, internal_id, from_address, to_address, ${hash} || '-' || (${number}) AS expected
             FROM ${notFirstOnly('internal_transactions', 'internal_id', hash)})
          WHERE internal_id IS DISTINCT FROM expected AND ${isPlain(PARTIES)}`,
    (row) => `internal_id: expected ${row.expected}, found ${row.internal_id}`,
  )
}

const ERC_TABLES = [
  'erc1155_transfers',
  'erc20_transfers',
  'erc721_transfers',
] as const satisfies readonly TableName[]
type ErcTable = (typeof ERC_TABLES)[number]

/** The columns that identify a transfer without log index; the JSON array has null for those that a table lacks. */
const TRANSFER_CONTENT: Record<ErcTable, { id: string; value: string }> = {
  erc20_transfers: { id: 'NULL', value: 'value' },
  erc721_transfers: { id: 'token_id', value: 'NULL' },
  erc1155_transfers: { id: 'token_id', value: 'value' },
}

/**
 * Checks transfer_id: the log index, with the ordinal of an ERC-1155 entry, or a hash of the content and the position
 * among equal rows of the transaction.
 */
async function checkTransferIds(checkedExport: CheckedExport, name: ErcTable): Promise<void> {
  const { id, value } = TRANSFER_CONTENT[name]
  const parties = ['token_address', ...PARTIES]
  const hash = hashOf(jsonArray([...parties, id, value]))
  const occurrence = `TRY_CAST(split_part(transfer_id, '-', 2) AS BIGINT)`
  const number = `row_number() OVER (PARTITION BY transaction_hash, ${hash} ORDER BY ${occurrence}, f, r) - 1`
  const ordinal = name === 'erc1155_transfers' ? ` || '.' || transfer_ordinal` : ''
  await expectNoRow(
    checkedExport,
    name,
    `SELECT f, r, transfer_id, log_index::VARCHAR${ordinal} AS expected FROM ${name}
          WHERE log_index IS NOT NULL AND transfer_id IS DISTINCT FROM expected
          UNION ALL SELECT f, r, transfer_id, expected FROM (
            SELECT *, ${hash} || '-' || (${number}) AS expected
            FROM ${notFirstOnly(`(FROM ${name} WHERE log_index IS NULL)`, 'transfer_id', hash)})
          WHERE transfer_id IS DISTINCT FROM expected AND ${isPlain(parties)}`,
    (row) => `transfer_id: expected ${row.expected}, found ${row.transfer_id}`,
  )
}

/** Checks that no log appears in more than one of the ERC tables. */
async function checkLogs(checkedExport: CheckedExport): Promise<void> {
  const tables = ERC_TABLES.filter((name) => hasRows(checkedExport, name))
  for (const [at, name] of tables.entries())
    for (const other of tables.slice(at + 1))
      await expectNone(
        checkedExport,
        `SELECT DISTINCT transaction_hash, log_index FROM ${other} SEMI JOIN ${name} USING (transaction_hash, log_index)`,
        (row) =>
          `log ${row.log_index} of ${row.transaction_hash}: expected it in one table, found it in ${name} and ${other}`,
      )
}
