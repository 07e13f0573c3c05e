import { type Omitted, toOmitted } from '../csv/import-row-writer.ts'
import type { ImportRow } from '../import-rows.ts'
import type { Asset, Movement } from '../movement.ts'
import { movementPostings, type PostingOptions, type Postings, swapPostings } from './postings.ts'

export type JournalOptions = PostingOptions & { onOmitted: (omitted: Omitted) => void }

/**
 * Creates a writer of one entry per transaction. Each movement and each swap has two postings that balance, so an entry
 * balances for any selection of wallets and days.
 */
export function createJournalWriter({ onOmitted, ...options }: JournalOptions) {
  const declare = createDeclarations(options)
  const postingsOf = (row: ImportRow): Postings[] => {
    const swap = row.kind === 'swap' ? swapPostings(row, options) : undefined
    if (swap !== undefined) return [swap]
    return row.movements.flatMap((movement) => {
      const formatted = movementPostings(movement, { ...options, label: row.label })
      if (!('reason' in formatted)) return [formatted]
      onOmitted(toOmitted(movement, formatted.reason))
      return []
    })
  }
  return {
    /** Whether the format can represent a swap with its price. */
    canWriteSwap: (row: ImportRow) => swapPostings(row, options) !== undefined,
    /** Returns the entry of one transaction with the declarations it needs; empty if none of its movements can be written. */
    write(rows: readonly ImportRow[]): string {
      const postings = rows.flatMap(postingsOf)
      const first = rows[0]?.movements[0]
      if (first === undefined || postings.length === 0) return ''
      const declarations = postings.map(declare).join('')
      const party = rows.flatMap(({ movements }) => movements).find(isNamedParty)
      const header = options.format.entryHeader({ ...first, counterpartyName: party?.counterpartyName })
      return `${declarations}${header}\n${postings.map(({ text }) => text).join('')}\n`
    },
  }
}

/** Whether the counterparty has a name and is not a wallet of the job, whose side is in the entry too. */
const isNamedParty = ({ counterpartyName, isOwn }: Movement) => counterpartyName !== undefined && !isOwn

/** Creates a function that returns the declarations of accounts and commodities that were not declared before. */
function createDeclarations({ format }: PostingOptions) {
  const accounts = new Set<string>()
  const commodities = new Set<string>()
  return ({ accounts: used, commodities: assets }: Postings): string => {
    const newAccounts = used.filter((account) => isNew(accounts, account)).map(format.declareAccount)
    const newCommodities = [...assets].filter(([name]) => isNew(commodities, name))
    const declareCommodity = ([name, asset]: [string, Asset]) => format.declareCommodity(name, asset)
    return [...newAccounts, ...newCommodities.map(declareCommodity)].join('')
  }
}

function isNew(known: Set<string>, name: string): boolean {
  if (known.has(name)) return false
  known.add(name)
  return true
}
