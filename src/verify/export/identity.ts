import type { TableName } from '../../core/table/index.ts'
import { expectNone, type Lake, placeOf, wholeOf } from './checked-export.ts'

/** Rows are identified by their facts (CONTRACT section 2.4): internal calls by their content, ERC entries by their log. */
export async function checkIdentities(lake: Lake): Promise<void> {
  if (lake.whole.has('internal_transactions')) await checkInternalIds(lake)
  await checkLogs(lake)
}

const PARTY = (name: string) => `coalesce('"' || ${name} || '"', 'null')`
const CONTENT = `'[' || ${PARTY('from_address')} || ',' || ${PARTY('to_address')} || ',"' || value || '"]'`
/** Parties that need no escapes in JSON. */
const IS_PLAIN = ['from_address', 'to_address']
  .map((name) => `regexp_full_match(coalesce(${name}, ''), '[0-9a-z]*')`)
  .join(' AND ')

/** internal_id: a hash of from, to and value, and which of its kind it is within its transaction. */
async function checkInternalIds(lake: Lake): Promise<void> {
  const number = `row_number() OVER (PARTITION BY transaction_hash, from_address, to_address, value ORDER BY f, r) - 1`
  const expected = `left(sha256(${CONTENT}), 16) || '-' || (${number})`
  await expectNone(lake, {
    sql: `SELECT f, r, internal_id, expected FROM
            (SELECT f, r, internal_id, ${expected} AS expected FROM internal_transactions WHERE ${IS_PLAIN})
          WHERE internal_id IS DISTINCT FROM expected`,
    tell: (found) => {
      const place = placeOf(lake, 'internal_transactions', found)
      return `${place}: internal_id: expected ${found.expected}, found ${found.internal_id}`
    },
  })
}

const ERC_TABLES = [
  'erc20_transfers',
  'erc721_transfers',
  'erc1155_transfers',
] as const satisfies readonly TableName[]

/** One log is in one of the ERC tables. */
async function checkLogs(lake: Lake): Promise<void> {
  const tables = wholeOf(lake, ERC_TABLES)
  if (tables.length < 2) return
  const logs = tables.map(
    (name) =>
      `SELECT DISTINCT transaction_hash, log_index, '${name}' AS name FROM ${name} WHERE log_index IS NOT NULL`,
  )
  await expectNone(lake, {
    sql: `SELECT transaction_hash, log_index, string_agg(name, ' and ' ORDER BY name) AS names
          FROM (${logs.join(' UNION ALL ')}) GROUP BY transaction_hash, log_index HAVING count(*) > 1`,
    tell: (found) =>
      `log ${found.log_index} of ${found.transaction_hash}: expected it in one table, found it in ${found.names}`,
  })
}
