import { ExportError } from '../core/model/errors.ts'

/** What pages in a spool have in common; a spool of another identity cannot be continued. */
export type CheckpointIdentity = {
  /** Absent: pages of wallets. */
  kind?: 'blocks'
  chain: string
  startBlock: number
  /** null: up to the head. */
  endBlock: number | null
  finalityMs: number
}

type IdentifiedState = {
  identity: CheckpointIdentity
  stored: CheckpointIdentity | undefined
  isDone: boolean
  pages: number
  written: readonly unknown[]
  blocks: { missing: readonly unknown[]; partial: ReadonlyMap<number, unknown> }
}

/** True where the spool belongs to another job and holds nothing of it: no page, no block, no end of a run. */
export function isReusable(state: IdentifiedState): boolean {
  const { pages, written, blocks } = state
  const isEmpty =
    pages === 0 && written.length === 0 && blocks.missing.length === 0 && blocks.partial.size === 0
  return isEmpty && !state.isDone && differingKeys(state).length > 0
}

/** Throws OUTPUT_CHANGED where a spool's pages are of another job. Between two runs `finality` may change. */
export function requireSameIdentity(state: IdentifiedState): void {
  const { stored, identity, isDone } = state
  const differing = differingKeys(state)
  if (stored === undefined || differing.length === 0) return
  const changes = differing.map(
    (key) => `${key} was ${formatIdentityField(key, stored)} and is ${formatIdentityField(key, identity)}`,
  )
  throw new ExportError(
    'OUTPUT_CHANGED',
    `the output holds ${isDone ? 'an export' : 'an unfinished run'} of another job: ${changes.join(', ')}`,
    isDone ? { fix: 'Name another --output, or export anew with --fresh.' } : {},
  )
}

function differingKeys({ stored, identity, isDone }: IdentifiedState): (keyof CheckpointIdentity)[] {
  if (stored === undefined) return []
  return IDENTITY_KEYS.filter((key) => stored[key] !== identity[key] && !(isDone && key === 'finalityMs'))
}

const IDENTITY_KEYS = ['kind', 'chain', 'startBlock', 'endBlock', 'finalityMs'] as const

function formatIdentityField(key: keyof CheckpointIdentity, identity: CheckpointIdentity): number | string {
  return identity[key] ?? (key === 'kind' ? 'wallets' : 'the head')
}
