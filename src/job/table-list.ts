import { TABLE_NAMES, type TableName } from '../core/table/index.ts'
import { against, type Complain } from './complaints.ts'
import type { Given } from './given.ts'
import { type Kind, oneOf } from './kinds.ts'

/** A list of table names, each once, brought into the order in which the tables are declared. */
export function tableList(): Kind<readonly TableName[]> {
  return {
    schema: { type: 'array', minItems: 1, uniqueItems: true, items: tableName.schema },
    parse: (given, complain) => {
      if (!Array.isArray(given.value) || given.value.length === 0) {
        complain(against(given, `a list of at least one of ${TABLE_NAMES.join(', ')}`))
        return undefined
      }
      const named = new Set<TableName>()
      for (const item of given.value) addName(named, item, complain)
      return TABLE_NAMES.filter((name) => named.has(name))
    },
  }
}

const tableName = oneOf(TABLE_NAMES)

function addName(named: Set<TableName>, item: Given, complain: Complain): void {
  const name = tableName.parse(item, complain)
  if (name !== undefined && named.has(name)) complain(against(item, 'each table once'))
  if (name !== undefined) named.add(name)
}
