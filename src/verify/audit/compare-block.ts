import type { ListedTransaction } from './listed-transaction.ts'

/**
 * A row of `transactions` with its wallets from `wallet_transactions`; `wallets` is undefined without that table. Of a
 * transaction without a value, the export only knows what is not null: its source lists transfers without their
 * transaction.
 */
export type ExportedTransaction = {
  hash: string
  index: string | null
  from: string | null
  to: string | null
  value: string | null
  blockHash: string | null
  /** Milliseconds since 1970. */
  timeMs: number
  wallets: ReadonlySet<string> | undefined
}

export type BlockComparison = {
  listed: readonly ListedTransaction[]
  exported: readonly ExportedTransaction[]
  /** Whether the address is a wallet of the job whose coverage includes the block. */
  isWallet: (address: string) => boolean
}

/** The result of comparing one block: the affected transactions with a description of each problem. */
export type BlockFindings = {
  /** Exported transactions that the block lists too, including differing ones. */
  compared: number
  missing: Problem[]
  surplus: Problem[]
  differing: Problem[]
}
type Problem = { hash: string; description: string }

/**
 * Compares one block's listing with its exported rows. Each listed transaction from or to a wallet must be exported for
 * that wallet, and each exported transaction from or to a wallet must be listed with the same fields. Rows that were
 * exported only because of a transfer need not be listed; if they are, their fields must match.
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

/** The sender and receiver, as far as they are wallets. */
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
  const isUnknown = (field: (typeof FIELDS)[number]) => row.value === null && row[field] === null
  return FIELDS.filter(
    (field) => listed[field] !== undefined && listed[field] !== row[field] && !isUnknown(field),
  )
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
