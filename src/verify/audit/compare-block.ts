import type { ListedTransaction } from './listed-transaction.ts'

/** A row of `transactions`, and the wallets that `wallet_transactions` has for it; undefined without that table. */
export type ExportedTransaction = {
  hash: string
  index: string
  from: string | null
  to: string | null
  value: string
  blockHash: string
  /** Milliseconds since 1970. */
  timeMs: number
  wallets: ReadonlySet<string> | undefined
}

export type BlockComparison = {
  listed: readonly ListedTransaction[]
  exported: readonly ExportedTransaction[]
  /** Whether this address is a wallet of the job whose coverage holds the block. */
  isWallet: (address: string) => boolean
}

/** What a block's two sides say of each other: hashes, with what is wrong where the hash alone does not say it. */
export type BlockFindings = {
  /** Transactions of wallets that both sides have, differing ones included. */
  compared: number
  missing: Problem[]
  surplus: Problem[]
  differing: Problem[]
}
type Problem = { hash: string; description: string }

/**
 * Holds one block's listing against its exported rows: each listed transaction from or to a wallet has to be exported,
 * for that wallet too, and each exported one from or to a wallet has to be listed, with the same fields. Rows that are
 * there for a transfer only are judged by their fields where they are listed.
 */
export function compareBlock({ listed, exported, isWallet }: BlockComparison): BlockFindings {
  const findings: BlockFindings = { compared: 0, missing: [], surplus: [], differing: [] }
  const rows = new Map(exported.map((row) => [row.hash, row]))
  const byHash = new Map(listed.map((listedTransaction) => [listedTransaction.hash, listedTransaction]))
  for (const row of exported) {
    const listedTransaction = byHash.get(row.hash)
    const coveredWallets = walletsOf(row, isWallet)
    if (listedTransaction === undefined) {
      if (coveredWallets.length > 0)
        findings.surplus.push({ hash: row.hash, description: `exported for ${coveredWallets.join(', ')}` })
      continue
    }
    findings.compared += 1
    const description = differences(listedTransaction, row)
    if (description !== '') findings.differing.push({ hash: row.hash, description })
  }
  for (const listedTransaction of byHash.values()) {
    const missingWallets = missingFor(
      walletsOf(listedTransaction, isWallet),
      rows.get(listedTransaction.hash),
    )
    if (missingWallets.length > 0)
      findings.missing.push({
        hash: listedTransaction.hash,
        description: `listed for ${missingWallets.join(', ')}`,
      })
  }
  return findings
}

/** Those of sender and receiver that are wallets. */
function walletsOf(
  { from, to }: Pick<ListedTransaction, 'from' | 'to'>,
  isWallet: BlockComparison['isWallet'],
) {
  return [...new Set([from, to])].filter((address) => typeof address === 'string' && isWallet(address))
}

function missingFor<T>(wallets: T[], row: ExportedTransaction | undefined): T[] {
  if (row === undefined) return wallets
  return wallets.filter((wallet) => row.wallets?.has(wallet as string) === false)
}

const FIELDS = ['index', 'from', 'to', 'value', 'blockHash'] as const
const COLUMNS = {
  index: 'transaction_index',
  from: 'from_address',
  to: 'to_address',
  value: 'value',
  blockHash: 'block_hash',
} as const satisfies Record<(typeof FIELDS)[number], string>

function differences(listed: ListedTransaction, row: ExportedTransaction): string {
  return FIELDS.filter((field) => listed[field] !== undefined && listed[field] !== row[field])
    .map((field) => `${COLUMNS[field]}: listed ${listed[field]}, exported ${row[field]}`)
    .concat(timeDifference(listed, row))
    .join('; ')
}

function timeDifference({ times }: ListedTransaction, { timeMs }: ExportedTransaction): string[] {
  if (times === undefined || times.includes(timeMs)) return []
  const [listed, exported] = [times.at(-1) ?? Number.NaN, timeMs].map(isoTime)
  return [`block_timestamp: listed ${listed}, exported ${exported}`]
}

const isoTime = (ms: number) => (Math.abs(ms) <= LAST_TIME_MS ? new Date(ms).toISOString() : `${ms} ms`)
const LAST_TIME_MS = 8.64e15
