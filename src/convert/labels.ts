import { readRecords, recordFault } from '../read/csv-records.ts'
import type { Labels } from './lines.ts'
import type { Movement } from './movement.ts'
import type { Preset } from './preset.ts'

/**
 * Reads the types that a user gives to transactions (by hash), counterparties (by address) or methods: CSV with the columns
 * `match` and `type`. The first of hash, counterparty and method that the file names counts; fees keep their own type.
 * Without a file nothing has a label. Throws USAGE for a type that is not among the known ones.
 */
export async function readLabels(file: string | undefined, known?: ReadonlySet<string>): Promise<Labels> {
  if (file === undefined) return () => undefined
  const types = new Map<string, string>()
  await readRecords(file, ['match', 'type'], ({ line, cells }) => {
    const { match = '', type = '' } = cells
    if (match === '')
      throw recordFault({ file, line }, { found: 'no match', expected: 'a hash, address or method' })
    if (known === undefined && type === '')
      throw recordFault({ file, line }, { found: 'no type', expected: 'a type or an account' })
    if (known !== undefined && !known.has(type))
      throw recordFault(
        { file, line },
        { found: `type ${type || 'empty'}`, expected: [...known].sort().join(', ') },
      )
    types.set(match.toLowerCase(), type)
  })
  return (movement) => (movement.type === 'fee' ? undefined : labelIn(types, movement))
}

function labelIn(types: ReadonlyMap<string, string>, { transaction, counterparty, method }: Movement) {
  return (
    types.get(transaction) ??
    types.get(counterparty ?? transaction) ??
    types.get((method ?? transaction).toLowerCase())
  )
}

/** All types that a line of the preset may have; undefined where any text is one. */
export function knownTypes({ types, otherTypes }: Preset): ReadonlySet<string> | undefined {
  return otherTypes === undefined ? undefined : new Set([...Object.values(types), ...otherTypes])
}
