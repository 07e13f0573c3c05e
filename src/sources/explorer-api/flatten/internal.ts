import { boolAt, type Fields, int64At, isAbsent, lowerAt, requiredU256, textAt } from '../../fields.ts'
import type { Internal } from '../../view.ts'

/** Reads a record of `txlistinternal`. The receiver of a creation is the created contract. */
export function readInternal(record: Fields): Internal {
  const from = lowerAt(record, 'from')
  const to = lowerAt(record, 'to') ?? lowerAt(record, 'contractAddress')
  const failed = boolAt(record, 'isError')
  const row = {
    internal_type: typeOf(record),
    from_address: from,
    from_name: null,
    to_address: to,
    to_name: null,
    value: requiredU256(record, 'value'),
    reverted: failed ?? false,
    gas_used: int64At(record, 'gasUsed'),
    gas_limit: int64At(record, 'gas'),
  }
  const isOutcomeKnown = failed !== undefined || isAbsent(record, 'isError')
  return { row, isOutcomeKnown, content: JSON.stringify([from, to, row.value]) }
}

/**
 * The type in the spelling of the data API, which the ledger understands. `callType` tells calls that move coins from
 * delegate calls, which show the value that they inherit.
 */
function typeOf(record: Fields): string | null {
  const type = textAt(record, 'type')?.toUpperCase() ?? null
  if (type === 'CALL') return textAt(record, 'callType')?.toUpperCase() ?? type
  return type === 'SUICIDE' ? 'SELFDESTRUCT' : type
}
