import type { TableName } from '../../core/table/index.ts'
import { expectNone, type Lake, placeOf, wholeOf } from './checked-export.ts'

const FACTS = ['erc20_transfers', 'erc721_transfers', 'erc1155_transfers', 'internal_transactions'] as const

/** Tables agree about transactions: each one known, with the same block; each seen by a wallet; views within facts. */
export async function checkLinks(lake: Lake): Promise<void> {
  const { whole } = lake
  if (whole.has('transactions')) {
    for (const name of wholeOf(lake, [...FACTS, 'wallet_transactions', 'ledger']))
      await checkKnown(lake, name)
  }
  if (!whole.has('wallet_transactions')) return
  if (whole.has('transactions')) await checkSides(lake)
  for (const name of wholeOf(lake, ['transactions', ...FACTS])) await checkSeen(lake, name)
  for (const name of FACTS) if (whole.has(name)) await checkViews(lake, name)
}

/** The transaction of each row is in `transactions`, with the same block, time and position. */
async function checkKnown(lake: Lake, name: TableName): Promise<void> {
  const same = ['chain_id', 'block_number', 'transaction_index', 'place']
  const differ = same.map((column) => `x.${column} IS DISTINCT FROM t.${column}`).join(' OR ')
  await expectNone(lake, {
    sql: `SELECT x.f, x.r, x.transaction_hash, t.transaction_hash IS NULL AS missing
          FROM ${name} x LEFT JOIN transactions t USING (transaction_hash)
          WHERE t.transaction_hash IS NULL OR ${differ}`,
    tell: (found) => {
      const what = found.missing ? 'it is not there' : 'block, time or index differ'
      return `${placeOf(lake, name, found)}: expected ${found.transaction_hash} as in transactions, found that ${what}`
    },
  })
}

/** `is_sender` and `is_receiver` say whether the wallet is the transaction's sender or receiver. */
async function checkSides(lake: Lake): Promise<void> {
  await expectNone(lake, {
    sql: `SELECT w.f, w.r, w.transaction_hash
          FROM wallet_transactions w JOIN transactions t USING (transaction_hash)
          WHERE w.is_sender IS DISTINCT FROM (w.wallet_address IS NOT DISTINCT FROM t.from_address)
             OR w.is_receiver IS DISTINCT FROM (w.wallet_address IS NOT DISTINCT FROM t.to_address)`,
    tell: (found) => {
      const place = placeOf(lake, 'wallet_transactions', found)
      return `${place}: is_sender, is_receiver: expected the parties of ${found.transaction_hash}, found others`
    },
  })
}

/** A fact comes from some wallet's listing, so that a wallet must have seen its transaction. */
async function checkSeen(lake: Lake, name: TableName): Promise<void> {
  await expectNone(lake, {
    sql: `SELECT x.f, x.r, x.transaction_hash FROM ${name} x ANTI JOIN wallet_transactions w USING (transaction_hash)`,
    tell: (found) => {
      const place = placeOf(lake, name, found)
      return `${place}: expected ${found.transaction_hash} in wallet_transactions, found no wallet that saw it`
    },
  })
}

/** A wallet's view holds at most the facts of all views together. */
async function checkViews(lake: Lake, name: (typeof FACTS)[number]): Promise<void> {
  const facts = `SELECT transaction_hash, count(*) AS facts FROM ${name} GROUP BY transaction_hash`
  await expectNone(lake, {
    sql: `SELECT w.f, w.r, w.${name} AS seen, coalesce(x.facts, 0) AS facts
          FROM wallet_transactions w LEFT JOIN (${facts}) x USING (transaction_hash)
          WHERE w.${name} < 0 OR w.${name} > coalesce(x.facts, 0)`,
    tell: (found) => {
      const place = placeOf(lake, 'wallet_transactions', found)
      return `${place}: ${name}: expected at most the ${found.facts} of the fact table, found ${found.seen}`
    },
  })
}
