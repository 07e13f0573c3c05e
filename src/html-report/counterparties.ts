import { quoteIdentifier } from '../core/platform/sql.ts'
import type { AddressNames } from '../read/address-book.ts'
import type { Dataset } from '../read/dataset.ts'

/** An address outside the job that exchanged transfers with wallets of the job. */
export type Counterparty = {
  address: string
  name: string | null
  /** Number of transfers per wallet: received by the wallet from this counterparty, and sent to it. */
  transfers: { wallet: string; received: number; sent: number }[]
  received: number
  sent: number
}

/** Counterparties listed on a page: those with the most transfers. */
const MAX_COUNTERPARTIES = 200
/** Tokens whose balances are tracked over time, in addition to the native coin. */
const MAX_TRACKED = 5

const GROUP_COLUMNS = ['counterparty_address', 'wallet_address', 'direction'].map(quoteIdentifier).join(', ')

/**
 * Counts transfers by counterparty, wallet and direction in the scratch database, which spills to disk. Counterparties
 * have the name in `names`, or else the one in the ledger.
 */
export async function readCounterparties(
  { eachFile, run, all, textSql }: Dataset,
  names: AddressNames,
): Promise<{ top: Counterparty[]; count: number }> {
  await run('CREATE TABLE parties (party VARCHAR, wallet VARCHAR, direction VARCHAR, name VARCHAR, n BIGINT)')
  await eachFile(
    'ledger',
    (source) =>
      `INSERT INTO parties SELECT ${GROUP_COLUMNS}, max(${textSql('counterparty_name')}), count(*) FROM ${source} ` +
      `WHERE counterparty_address IS NOT NULL AND counterparty_is_own::VARCHAR = 'false' ` +
      `AND entry_type = 'transfer' GROUP BY ALL`,
  )
  const [total] = await all('SELECT count(DISTINCT party)::INTEGER AS n FROM parties')
  const found = await all(
    `WITH most AS (SELECT party, sum(n) AS all_of FROM parties GROUP BY party ` +
      `ORDER BY all_of DESC, party LIMIT ${MAX_COUNTERPARTIES}) ` +
      `SELECT party, wallet, direction, max(name) AS name, sum(n)::DOUBLE AS n FROM parties ` +
      `JOIN most USING (party) GROUP BY ALL ORDER BY max(all_of) DESC, party, wallet, direction`,
  )
  const counterparties = new Map<string, Counterparty>()
  for (const { party: counterparty, wallet, direction, name, n } of found) {
    const entry = counterparties.get(counterparty as string) ?? newCounterparty(counterparty as string, names)
    entry.name ??= name as string | null
    addTransfers(entry, { wallet: wallet as string, isOut: direction === 'out', count: Number(n) })
    counterparties.set(counterparty as string, entry)
  }
  return { top: [...counterparties.values()], count: Number(total?.n ?? 0) }
}

const newCounterparty = (address: string, names: AddressNames): Counterparty => ({
  address,
  name: names.get(address) ?? null,
  transfers: [],
  received: 0,
  sent: 0,
})

function addTransfers(
  counterparty: Counterparty,
  transfer: { wallet: string; isOut: boolean; count: number },
): void {
  const { wallet, isOut, count } = transfer
  let transfers = counterparty.transfers.find((one) => one.wallet === wallet)
  if (transfers === undefined) {
    transfers = { wallet, received: 0, sent: 0 }
    counterparty.transfers.push(transfers)
  }
  const direction = isOut ? 'sent' : 'received'
  transfers[direction] += count
  counterparty[direction] += count
}

/** Selects the assets whose balances are tracked: the native coin and the tokens with the most movements. */
export async function selectTrackedAssets({ eachFile, run, all }: Dataset): Promise<ReadonlySet<string>> {
  await run('CREATE TABLE moved (asset VARCHAR, n BIGINT)')
  await eachFile(
    'ledger',
    (source) =>
      `INSERT INTO moved SELECT asset_address, count(*) FROM ${source} WHERE asset_type = 'erc20' GROUP BY ALL`,
  )
  const found = await all(
    `SELECT asset FROM moved GROUP BY asset ORDER BY sum(n) DESC, asset LIMIT ${MAX_TRACKED}`,
  )
  return new Set(['native', ...found.map(({ asset }) => asset as string)])
}
