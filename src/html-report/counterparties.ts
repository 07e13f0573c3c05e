import { quoteIdentifier } from '../core/platform/sql.ts'
import type { Dataset } from '../read/dataset.ts'

/** An address outside the job that exchanged transfers with wallets of the job. */
export type Counterparty = {
  chain: string
  address: string
  /** Its name in the service; names of the user take precedence. */
  name: string | null
  /** Number of transfers per wallet: received by the wallet from this counterparty, and sent to it. */
  transfers: { wallet: string; received: number; sent: number }[]
  received: number
  sent: number
}

/** Counterparties listed on a page: those with the most transfers. */
const MAX_COUNTERPARTIES = 200
/** Names of the service that a page uses. */
const MAX_NAMES = 20_000

const GROUP_COLUMNS = ['counterparty_address', 'wallet_address', 'direction'].map(quoteIdentifier).join(', ')

/** Counts transfers by counterparty, wallet and direction in the scratch database, which spills to disk. */
export async function readCounterparties(
  { collect, all, textSql }: Dataset,
  chain: string,
): Promise<{ top: Counterparty[]; count: number; names: ReadonlyMap<string, string> }> {
  await collect(
    'parties (party VARCHAR, wallet VARCHAR, direction VARCHAR, name VARCHAR, n BIGINT)',
    'ledger',
    (source) =>
      `SELECT ${GROUP_COLUMNS}, max(${textSql('counterparty_name')}), count(*) FROM ${source} ` +
      `WHERE counterparty_address IS NOT NULL AND counterparty_is_own::VARCHAR = 'false' ` +
      `AND entry_type = 'transfer' GROUP BY ALL`,
  )
  const [total] = await all('SELECT count(DISTINCT party)::INTEGER AS n FROM parties')
  const named = await all(
    `SELECT party, max(name) AS name FROM parties WHERE name <> '' GROUP BY party ORDER BY sum(n) DESC, party LIMIT ${MAX_NAMES}`,
  )
  const rows = await all(
    `WITH most AS (SELECT party, sum(n) AS all_of FROM parties GROUP BY party ` +
      `ORDER BY all_of DESC, party LIMIT ${MAX_COUNTERPARTIES}) ` +
      `SELECT party, wallet, max(name) AS name, (sum(n) FILTER (direction = 'in'))::DOUBLE AS received, ` +
      `(sum(n) FILTER (direction = 'out'))::DOUBLE AS sent FROM parties ` +
      `JOIN most USING (party) GROUP BY party, wallet ORDER BY max(all_of) DESC, party, wallet`,
  )
  const top = new Map<string, Counterparty>()
  for (const row of rows) {
    const address = row.party as string
    const party = top.get(address) ?? { chain, address, name: null, transfers: [], received: 0, sent: 0 }
    top.set(address, party)
    const [received, sent] = [Number(row.received ?? 0), Number(row.sent ?? 0)]
    party.name ??= (row.name as string | null) || null
    party.transfers.push({ wallet: row.wallet as string, received, sent })
    party.received += received
    party.sent += sent
  }
  return {
    top: [...top.values()],
    count: Number(total?.n ?? 0),
    names: new Map(named.map(({ party, name }) => [party as string, name as string])),
  }
}
