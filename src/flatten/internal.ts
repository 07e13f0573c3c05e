import type { Cell } from '../core/table/index.ts'
import { type Fields, int64At, requiredBool, requiredU256, textAt } from './fields.ts'
import { type Party, partyAt } from './party.ts'

/** An internal transaction (interface section 2.7). */
export type Internal = {
  type: string | null
  from: Party
  to: Party
  value: string
  reverted: boolean
  gasUsed: Cell
  gasLimit: Cell
  /** The JSON array whose hash begins `internal_id` (CONTRACT section 2). */
  content: string
}

export function readInternal(entry: Fields): Internal {
  const type = textAt(entry, 'internalTxType')
  const from = partyAt(entry, 'from')
  const to = partyAt(entry, 'to')
  const value = requiredU256(entry, 'value')
  const reverted = requiredBool(entry, 'isReverted')
  const gasUsed = int64At(entry, 'gasUsed')
  const gasLimit = int64At(entry, 'gasLimit')
  const gas = [textOf(gasUsed), textOf(gasLimit)]
  const content = JSON.stringify([from.address, to.address, type, value, reverted, ...gas])
  return { type, from, to, value, reverted, gasUsed, gasLimit, content }
}

const textOf = (cell: Cell) => (cell === null ? null : String(cell))
