import type { ActivityData, PackedEntry } from '../page-data.ts'

/** What a reader looks for; empty texts select everything. */
export type ActivityQuery = {
  search: string
  /** Address, index of an asset, kind of event, and year. */
  wallet: string
  asset: string
  kind: string
  year: string
}

export const yearOf = ([time]: PackedEntry): string => String(new Date(time * 1000).getUTCFullYear())

/** Selects transactions in which something satisfies each condition. */
export function createFilter(data: ActivityData, query: ActivityQuery): (entry: PackedEntry) => boolean {
  const { wallet, kind, year } = query
  const asset = query.asset === '' ? undefined : Number(query.asset)
  const words = query.search.trim().toLowerCase().split(/\s+/).filter(Boolean)
  const addressAt = (party: number) => data.parties[party]?.[0] ?? ''
  return (entry) => {
    const [, , , events, rows] = entry
    if (year !== '' && yearOf(entry) !== year) return false
    if (kind !== '' && !events.some((event) => event[0] === kind)) return false
    if (wallet !== '' && !rows.some((row) => addressAt(row[0]) === wallet)) return false
    if (asset !== undefined && !rows.some((row) => row[3] === asset)) return false
    return words.every((word) => textsOf(entry, data, word).some((text) => text.toLowerCase().includes(word)))
  }
}

/**
 * The texts in which a word is looked for. Hashes and addresses contain nearly every short word of the letters a to f, so
 * they count only for words that start with `0x`, or have at least 6 characters including a digit.
 */
function textsOf([, , transaction, events, rows]: PackedEntry, data: ActivityData, word: string): string[] {
  const isHex = word.startsWith('0x') || (word.length >= 6 && /\d/.test(word))
  const names = rows.flatMap((row) => {
    const [party, wallet] = [data.parties[row[4]], data.parties[row[0]]]
    const [symbol = '', contract = ''] = data.assets[row[3]] ?? []
    const hex = isHex ? [party?.[0] ?? '', wallet?.[0] ?? '', contract] : []
    return [party?.[1] ?? '', wallet?.[1] ?? '', symbol, row[1], row[2], ...hex]
  })
  return [...(isHex ? [transaction] : []), ...events.flatMap((event) => [event[0], event[6]]), ...names]
}
