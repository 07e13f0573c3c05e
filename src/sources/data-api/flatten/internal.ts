import { sha256 } from '../../../core/platform/sha256.ts'
import type { Cells } from '../../../core/table/index.ts'
import { boolAt, type Fields, int64At, isAbsent, requiredU256, textAt } from './fields.ts'
import { partyAt } from './party.ts'

/** An internal transaction (interface section 2.7): its row without the id, which depends on the other entries. */
export type Internal = {
  row: Omit<Cells<'internal_transactions'>, 'internal_id'>
  /** Its identity: the JSON array whose hash is the first part of `internal_id` (CONTRACT section 2.3). */
  content: string
  /** Whether the service states if the entry was reverted. Otherwise it counts as not reverted. */
  isOutcomeKnown: boolean
}

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

/**
 * The rows of a transaction's internal entries. The id of each is a hash of its content and the number of its
 * occurrence.
 */
export function internalRows(entries: readonly Internal[]): Cells<'internal_transactions'>[] {
  const occurrences = new Map<string, number>()
  const rows: Cells<'internal_transactions'>[] = []
  for (const { row, content } of entries) {
    const occurrence = occurrences.get(content) ?? 0
    occurrences.set(content, occurrence + 1)
    rows.push({ internal_id: `${sha256(content).slice(0, 16)}-${occurrence}`, ...row })
  }
  return rows
}
