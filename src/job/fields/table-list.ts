import * as v from 'valibot'
import { suggest } from '../../core/model/suggest.ts'
import { TABLE_NAMES, type TableName } from '../../core/table/index.ts'
import { invalidValue, type ReportDiagnostic } from '../diagnostics.ts'
import type { RawContent, RawValue } from '../resolve/raw-value.ts'
import { type FieldType, oneOf } from './field-type.ts'

/** A list of distinct table names, sorted in the order in which the tables are declared. */
export function tableList(): FieldType<readonly TableName[]> {
  return {
    schema: { type: 'array', minItems: 1, uniqueItems: true, items: tableName.schema },
    parsed: v.pipe(v.array(tableName.parsed), v.minLength(1)),
    fromTexts: (texts, origin) => splitNames(texts).map((value) => ({ ...origin, value })),
    parse: (raw, report) => {
      if (!Array.isArray(raw.value) || raw.value.length === 0) {
        const expected = `a list of at least one of ${TABLE_NAMES.join(', ')} (without the field: all)`
        report(invalidValue(raw, expected, suggestTables(raw.value)))
        return undefined
      }
      const names = new Set<TableName>()
      for (const item of raw.value) addName(names, item, report)
      return TABLE_NAMES.filter((name) => names.has(name))
    },
  }
}

/** Splits texts that may contain several comma-separated names. */
export function splitNames(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.split(',').map((name) => name.trim()))
}

/** Suggests a list for a text of table names. */
function suggestTables(value: RawContent): string | undefined {
  if (typeof value !== 'string') return undefined
  const names = value.split(/[\s,]+/).map((name) => suggest(name, TABLE_NAMES))
  return names.includes(undefined) ? undefined : `[${names.join(', ')}]`
}

const tableName = oneOf(TABLE_NAMES)

function addName(names: Set<TableName>, item: RawValue, report: ReportDiagnostic): void {
  const name = tableName.parse(item, report)
  if (name !== undefined && names.has(name)) report(invalidValue(item, 'each table once'))
  if (name !== undefined) names.add(name)
}
