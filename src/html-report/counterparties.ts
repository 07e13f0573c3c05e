import { named } from '../core/platform/sql.ts'
import type { OpenedExport } from '../read/open-export.ts'

/** Somebody whom wallets of the job dealt with, and is not one of them. */
export type Party = {
  address: string
  name: string | null
  /** Transfers with each wallet: what it got from, and sent to, this party. */
  transfers: { wallet: string; received: number; sent: number }[]
  received: number
  sent: number
}

/** Parties that a page names. */
const MOST_PARTIES = 50
/** Tokens whose balances are kept over time, beside the coin. */
const MOST_FOLLOWED = 5

const ROWS = ['counterparty_address', 'wallet_address', 'direction'].map(named).join(', ')

/** Counts transfers by other party, on the disk where there are many of them. */
export async function readParties({
  eachFile,
  rows,
  textSql,
}: OpenedExport): Promise<{ most: Party[]; count: number }> {
  await rows.run(
    'CREATE TABLE parties (party VARCHAR, wallet VARCHAR, direction VARCHAR, name VARCHAR, n BIGINT)',
  )
  await eachFile(
    'ledger',
    (source) =>
      `INSERT INTO parties SELECT ${ROWS}, max(${textSql('counterparty_name')}), count(*) FROM ${source} ` +
      `WHERE counterparty_address IS NOT NULL AND counterparty_is_own::VARCHAR = 'false' ` +
      `AND entry_type = 'transfer' GROUP BY ALL`,
  )
  const [total] = await rows.all('SELECT count(DISTINCT party)::INTEGER AS n FROM parties')
  const found = await rows.all(
    `WITH most AS (SELECT party, sum(n) AS all_of FROM parties GROUP BY party ` +
      `ORDER BY all_of DESC, party LIMIT ${MOST_PARTIES}) ` +
      `SELECT party, wallet, direction, max(name) AS name, sum(n)::DOUBLE AS n FROM parties ` +
      `JOIN most USING (party) GROUP BY ALL ORDER BY max(all_of) DESC, party, wallet, direction`,
  )
  const parties = new Map<string, Party>()
  for (const { party, wallet, direction, name, n } of found) {
    const known = parties.get(party as string) ?? newParty(party as string)
    known.name ??= name as string | null
    addTransfers(known, { wallet: wallet as string, isOut: direction === 'out', count: Number(n) })
    parties.set(party as string, known)
  }
  return { most: [...parties.values()], count: Number(total?.n ?? 0) }
}

const newParty = (address: string): Party => ({ address, name: null, transfers: [], received: 0, sent: 0 })

function addTransfers(party: Party, given: { wallet: string; isOut: boolean; count: number }): void {
  const { wallet, isOut, count } = given
  let transfers = party.transfers.find((one) => one.wallet === wallet)
  if (transfers === undefined) {
    transfers = { wallet, received: 0, sent: 0 }
    party.transfers.push(transfers)
  }
  const way = isOut ? 'sent' : 'received'
  transfers[way] += count
  party[way] += count
}

/** The coin, and the tokens that moved most. */
export async function followedAssets({ eachFile, rows }: OpenedExport): Promise<ReadonlySet<string>> {
  await rows.run('CREATE TABLE moved (asset VARCHAR, n BIGINT)')
  await eachFile(
    'ledger',
    (source) =>
      `INSERT INTO moved SELECT asset_address, count(*) FROM ${source} WHERE asset_type = 'erc20' GROUP BY ALL`,
  )
  const found = await rows.all(
    `SELECT asset FROM moved GROUP BY asset ORDER BY sum(n) DESC, asset LIMIT ${MOST_FOLLOWED}`,
  )
  return new Set(['native', ...found.map(({ asset }) => asset as string)])
}
