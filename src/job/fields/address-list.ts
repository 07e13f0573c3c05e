import * as v from 'valibot'
import { ADDRESS } from '../../core/model/address.ts'
import { ADDRESS_EXPECTED, addressProblem } from '../addresses/address.ts'
import { invalidValue, type ReportDiagnostic } from '../diagnostics.ts'
import { type RawValue, textOf } from '../resolve/raw-value.ts'
import type { FieldType } from './field-type.ts'
import { splitNames } from './table-list.ts'

/** A list of distinct addresses, in lower case and sorted. */
export function addressList(): FieldType<readonly string[]> {
  return {
    schema: { type: 'array', uniqueItems: true, items: { type: 'string', pattern: ADDRESS.source } },
    parsed: v.array(v.pipe(v.string(), v.regex(ADDRESS))),
    fromTexts: (texts, origin) => splitNames(texts).map((value) => ({ ...origin, value })),
    parse: (raw, report) => {
      if (!Array.isArray(raw.value)) {
        report(invalidValue(raw, `a list of addresses, each ${ADDRESS_EXPECTED}`))
        return undefined
      }
      const addresses = new Set<string>()
      for (const item of raw.value) addAddress(addresses, item, report)
      return [...addresses].sort()
    },
  }
}

function addAddress(addresses: Set<string>, item: RawValue, report: ReportDiagnostic): void {
  const text = textOf(item) ?? ''
  const problem = addressProblem(text)
  const address = text.toLowerCase()
  if (problem !== undefined) report({ ...invalidValue(item, problem.expected), ...problem })
  else if (addresses.has(address)) report(invalidValue(item, 'each address once'))
  else addresses.add(address)
}
