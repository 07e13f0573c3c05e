import { ExportError } from '../core/model/errors.ts'

/** What pages in a spool have in common; a spool of another identity cannot be continued. */
export type SpoolIdentity = {
  /** Absent: pages of wallets. */
  kind?: 'blocks'
  chain: string
  startBlock: number
  /** null: up to the head. */
  endBlock: number | null
  finalityMs: number
}

type IdentifiedState = {
  identity: SpoolIdentity
  found: SpoolIdentity | undefined
  isDone: boolean
  pages: number
  written: readonly unknown[]
  blocks: { missing: readonly unknown[]; begun: ReadonlyMap<number, unknown> }
}

/** True where the spool belongs to another job and holds nothing of it: no page, no block, no end of a run. */
export function isUnbound(state: IdentifiedState): boolean {
  const { pages, written, blocks } = state
  const isEmpty =
    pages === 0 && written.length === 0 && blocks.missing.length === 0 && blocks.begun.size === 0
  return isEmpty && !state.isDone && differingKeys(state).length > 0
}

/** Throws OUTPUT_CHANGED where a spool's pages are of another job. Between two runs `finality` may change. */
export function requireSameIdentity(state: IdentifiedState): void {
  const { found, identity, isDone } = state
  const differing = differingKeys(state)
  if (found === undefined || differing.length === 0) return
  const changes = differing.map((key) => `${key} was ${inWords(key, found)} and is ${inWords(key, identity)}`)
  throw new ExportError(
    'OUTPUT_CHANGED',
    `the output holds ${isDone ? 'an export' : 'an unfinished run'} of another job: ${changes.join(', ')}`,
    isDone ? { fix: 'Name another --output, or export anew with --fresh.' } : {},
  )
}

function differingKeys({ found, identity, isDone }: IdentifiedState): (keyof SpoolIdentity)[] {
  if (found === undefined) return []
  return IDENTITY_KEYS.filter((key) => found[key] !== identity[key] && !(isDone && key === 'finalityMs'))
}

const IDENTITY_KEYS = ['kind', 'chain', 'startBlock', 'endBlock', 'finalityMs'] as const

function inWords(key: keyof SpoolIdentity, identity: SpoolIdentity): number | string {
  return identity[key] ?? (key === 'kind' ? 'wallets' : 'the head')
}
