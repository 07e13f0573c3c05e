import { type Omitted, toOmitted } from '../csv/import-row-writer.ts'
import type { ImportRow } from '../import-rows.ts'
import { movementPostings, type PostingOptions, type Postings, swapPostings } from './postings.ts'

export type JournalOptions = PostingOptions & { onOmitted: (omitted: Omitted) => void }

/**
 * Creates a writer of one entry per transaction. Each movement and each swap has two postings that balance, so an entry
 * balances for any selection of wallets and days.
 */
export function createJournalWriter({ onOmitted, ...options }: JournalOptions) {
  const declare = createDeclarations(options)
  const addPostings = (row: ImportRow, postings: Postings[]): void => {
    const swap = row.kind === 'swap' ? swapPostings(row, options) : undefined
    if (swap !== undefined) postings.push(swap)
    else
      for (const movement of row.movements) {
        const formatted = movementPostings(movement, row.label, options)
        if ('reason' in formatted) onOmitted(toOmitted(movement, formatted.reason))
        else postings.push(formatted)
      }
  }
  return {
    /** Whether the format can represent a swap with its price. */
    canWriteSwap: (row: ImportRow) => swapPostings(row, options) !== undefined,
    /** Returns the entry of one transaction with the declarations it needs; empty if none of its movements can be written. */
    write(rows: readonly ImportRow[]): string {
      const postings: Postings[] = []
      for (const row of rows) addPostings(row, postings)
      const first = rows[0]?.movements[0]
      if (first === undefined || postings.length === 0) return ''
      const header = options.format.entryHeader({ ...first, counterpartyName: findPartyName(rows) })
      let [declarations, texts] = ['', '']
      for (const one of postings) {
        declarations += declare(one)
        texts += one.text
      }
      return `${declarations}${header}\n${texts}\n`
    },
  }
}

/** The name of the first counterparty that has one and is not a wallet of the job, whose side is in the entry too. */
function findPartyName(rows: readonly ImportRow[]): string | undefined {
  for (const { movements } of rows)
    for (const { counterpartyName, isOwn } of movements)
      if (counterpartyName !== undefined && !isOwn) return counterpartyName
  return undefined
}

/** Creates a function that returns the declarations of accounts and commodities that were not declared before. */
function createDeclarations({ format }: PostingOptions) {
  const accounts = new Set<string>()
  const commodities = new Set<string>()
  return ({ accounts: used, commodities: assets }: Postings): string => {
    let text = ''
    for (const account of used) if (isNew(accounts, account)) text += format.declareAccount(account)
    for (const [name, asset] of assets)
      if (isNew(commodities, name)) text += format.declareCommodity(name, asset)
    return text
  }
}

function isNew(known: Set<string>, name: string): boolean {
  if (known.has(name)) return false
  known.add(name)
  return true
}
