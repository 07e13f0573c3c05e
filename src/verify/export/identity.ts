import type { TableName } from '../../core/table/index.ts'
import { type CheckedExport, completeTablesOf, expectNone, rowLocation } from './checked-export.ts'

/**
 * Checks how rows are identified (CONTRACT section 2.4): internal transactions by a hash of their content, token
 * transfers by their log.
 */
export async function checkIdentities(checkedExport: CheckedExport): Promise<void> {
  if (checkedExport.completeTables.has('internal_transactions')) await checkInternalIds(checkedExport)
  await checkLogs(checkedExport)
}

const PARTY = (name: string) => `coalesce('"' || ${name} || '"', 'null')`
const CONTENT = `'[' || ${PARTY('from_address')} || ',' || ${PARTY('to_address')} || ',"' || value || '"]'`
/** Restricts the check to parties that need no escaping in JSON. */
const IS_PLAIN = ['from_address', 'to_address']
  .map((name) => `regexp_full_match(coalesce(${name}, ''), '[0-9a-z]*')`)
  .join(' AND ')

/** Checks internal_id: a hash of from, to and value, and the position among equal rows of the transaction. */
async function checkInternalIds(checkedExport: CheckedExport): Promise<void> {
  const number = `row_number() OVER (PARTITION BY transaction_hash, from_address, to_address, value ORDER BY f, r) - 1`
  const expected = `left(sha256(${CONTENT}), 16) || '-' || (${number})`
  await expectNone(checkedExport, {
    sql: `SELECT f, r, internal_id, expected FROM
            (SELECT f, r, internal_id, ${expected} AS expected FROM internal_transactions WHERE ${IS_PLAIN})
          WHERE internal_id IS DISTINCT FROM expected`,
    describe: (found) => {
      const location = rowLocation(checkedExport, 'internal_transactions', found)
      return `${location}: internal_id: expected ${found.expected}, found ${found.internal_id}`
    },
  })
}

const ERC_TABLES = [
  'erc20_transfers',
  'erc721_transfers',
  'erc1155_transfers',
] as const satisfies readonly TableName[]

/** Checks that no log appears in more than one of the ERC tables. */
async function checkLogs(checkedExport: CheckedExport): Promise<void> {
  const tables = completeTablesOf(checkedExport, ERC_TABLES)
  if (tables.length < 2) return
  const logs = tables.map(
    (name) =>
      `SELECT DISTINCT transaction_hash, log_index, '${name}' AS name FROM ${name} WHERE log_index IS NOT NULL`,
  )
  await expectNone(checkedExport, {
    sql: `SELECT transaction_hash, log_index, string_agg(name, ' and ' ORDER BY name) AS names
          FROM (${logs.join(' UNION ALL ')}) GROUP BY transaction_hash, log_index HAVING count(*) > 1`,
    describe: (found) =>
      `log ${found.log_index} of ${found.transaction_hash}: expected it in one table, found it in ${found.names}`,
  })
}
