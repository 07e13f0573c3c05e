import { nearest } from '../../core/model/suggest.ts'
import { TABLE_NAMES, type TableName } from '../../core/table/index.ts'
import { against, type Complain } from '../diagnostics.ts'
import type { Given, GivenValue } from '../resolve/raw-value.ts'
import { type Kind, oneOf } from './field-type.ts'

/** A list of table names, each once, brought into the order in which the tables are declared. */
export function tableList(): Kind<readonly TableName[]> {
  return {
    schema: { type: 'array', minItems: 1, uniqueItems: true, items: tableName.schema },
    parse: (given, complain) => {
      if (!Array.isArray(given.value) || given.value.length === 0) {
        const expected = `a list of at least one of ${TABLE_NAMES.join(', ')} (without the field: all)`
        complain(against(given, expected, likelyList(given.value)))
        return undefined
      }
      const named = new Set<TableName>()
      for (const item of given.value) addName(named, item, complain)
      return TABLE_NAMES.filter((name) => named.has(name))
    },
  }
}

/** The list that a text of table names means. */
function likelyList(value: GivenValue): string | undefined {
  if (typeof value !== 'string') return undefined
  const names = value.split(/[\s,]+/).map((name) => nearest(name, TABLE_NAMES))
  return names.includes(undefined) ? undefined : `[${names.join(', ')}]`
}

const tableName = oneOf(TABLE_NAMES)

function addName(named: Set<TableName>, item: Given, complain: Complain): void {
  const name = tableName.parse(item, complain)
  if (name !== undefined && named.has(name)) complain(against(item, 'each table once'))
  if (name !== undefined) named.add(name)
}
