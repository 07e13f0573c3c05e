import { boolAt, type Fields, int64At, isAbsent, requiredU256, textAt } from '../../fields.ts'
import type { Internal } from '../../view.ts'
import { partyAt } from './party.ts'

/** Reads an internal transaction (interface section 2.7). */
export function readInternal(entry: Fields): Internal {
  const type = textAt(entry, 'internalTxType')
  const from = partyAt(entry, 'from')
  const to = partyAt(entry, 'to')
  const reverted = boolAt(entry, 'isReverted')
  const row = {
    internal_type: type,
    from_address: from.address,
    from_name: from.name,
    to_address: to.address,
    to_name: to.name,
    value: requiredU256(entry, 'value'),
    reverted: reverted ?? false,
    gas_used: int64At(entry, 'gasUsed'),
    gas_limit: int64At(entry, 'gasLimit'),
  }
  // Some services omit false values, so a missing flag means that the entry was not reverted.
  const isOutcomeKnown = reverted !== undefined || isAbsent(entry, 'isReverted')
  return { row, isOutcomeKnown, content: JSON.stringify([from.address, to.address, row.value]) }
}
