import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import pg from 'pg'

const TABLES = `SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_class
  WHERE relkind = 'r' AND relnamespace = to_regnamespace('walletlake_queue')`

/** Bytes that a queue takes: of Redis's memory at its peak, or of PostgreSQL's tables. */
export async function sizeOfQueue(url) {
  if (url.startsWith('redis')) {
    const { stdout } = await promisify(execFile)('redis-cli', ['-u', url, 'info', 'memory'])
    return Number(/used_memory_peak:(\d+)/.exec(stdout)?.[1])
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(TABLES)
  await client.end()
  return Number(rows[0].bytes)
}
