import { TABLE_NAMES } from '../table/index.ts'
import type { Coverage, Manifest, ManifestTable } from './manifest.ts'
import type { ManifestProblem } from './manifest-schema.ts'

/**
 * Lists what a valid manifest states in two ways that differ: numbers of rows and transactions, files and wallets that
 * are listed twice. No run writes such a manifest, so a program or a person has edited it.
 */
export function manifestContradictions({ job, coverage, tables }: Manifest): ManifestProblem[] {
  const isBlockJob = job.kind === 'blocks'
  return [
    ...coverage.flatMap(({ address, fromBlock, toBlock }, at) => [
      ...(coverage[at - 1]?.address === address
        ? [problem(`coverage[${at}].address`, 'each wallet once', address)]
        : []),
      ...(toBlock < fromBlock ? [problem(`coverage[${at}].toBlock`, `${fromBlock} at least`, toBlock)] : []),
    ]),
    ...TABLE_NAMES.flatMap((name) => tableContradictions(`tables.${name}`, tables[name])),
    ...(isBlockJob ? [] : countContradictions(coverage, tables.wallet_transactions)),
  ]
}

function tableContradictions(path: string, table: ManifestTable | undefined): ManifestProblem[] {
  if (table === undefined) return []
  const paths = new Set<string>()
  const twice = table.files.flatMap((file, at) => {
    const isKnown = paths.has(file.path)
    paths.add(file.path)
    return isKnown ? [problem(`${path}.files[${at}].path`, 'each file once', file.path)] : []
  })
  const rows = table.files.reduce((sum, file) => sum + file.rows, 0)
  return rows === table.rows
    ? twice
    : [...twice, problem(`${path}.rows`, `${rows} as in its files`, table.rows)]
}

/** Each row of this table is a transaction of a wallet. */
function countContradictions(
  coverage: readonly Coverage[],
  table: ManifestTable | undefined,
): ManifestProblem[] {
  const transactions = coverage.reduce((sum, wallet) => sum + wallet.transactions, 0)
  if (table === undefined || table.rows === transactions) return []
  return [problem('tables.wallet_transactions.rows', `${transactions} as in the coverage`, table.rows)]
}

const problem = (path: string, expected: string, found: unknown): ManifestProblem => ({
  path,
  expected,
  found,
})
