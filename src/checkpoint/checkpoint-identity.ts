import { type Api, DEFAULT_API } from '../core/model/api.ts'
import { ExportError } from '../core/model/errors.ts'

/**
 * The job settings that all pages of a checkpoint share. A checkpoint with another identity cannot be
 * resumed.
 */
export type CheckpointIdentity = {
  /** Absent in wallet jobs. */
  kind?: 'blocks'
  chain: string
  startBlock: number
  /** null if the export extends to the head. */
  endBlock: number | null
  finalityMs: number
  /** Present if the pages contain the listing of internal transactions. */
  internals?: 'full'
  /** The API that the pages come from; absent for `data-api`. */
  api?: Api
}

type IdentifiedState = {
  identity: CheckpointIdentity
  stored: CheckpointIdentity | undefined
  isDone: boolean
  pages: number
  written: readonly unknown[]
  blocks: { missing: readonly unknown[]; partial: ReadonlyMap<number, unknown> }
}

/**
 * Whether a checkpoint of another job is empty (no pages, no blocks, no finished run) and can be replaced.
 */
export function isReusable(state: IdentifiedState): boolean {
  const { pages, written, blocks } = state
  const isEmpty =
    pages === 0 && written.length === 0 && blocks.missing.length === 0 && blocks.partial.size === 0
  return isEmpty && !state.isDone && differingKeys(state).length > 0
}

/**
 * Throws OUTPUT_CHANGED if a checkpoint belongs to another job. `finality` may change after a finished run.
 */
export function requireSameIdentity(state: IdentifiedState): void {
  const { stored, identity, isDone } = state
  const differing = differingKeys(state)
  if (stored === undefined || differing.length === 0) return
  const changes = differing.map(
    (key) => `${key} was ${formatIdentityField(key, stored)} and is ${formatIdentityField(key, identity)}`,
  )
  throw new ExportError(
    'OUTPUT_CHANGED',
    `the output contains ${isDone ? 'an export' : 'an unfinished run'} of another job: ${changes.join(', ')}`,
    isDone ? { fix: 'Choose another --output, or start over with --fresh.' } : {},
  )
}

function differingKeys({ stored, identity, isDone }: IdentifiedState): (keyof CheckpointIdentity)[] {
  if (stored === undefined) return []
  return IDENTITY_KEYS.filter((key) => stored[key] !== identity[key] && !(isDone && key === 'finalityMs'))
}

const IDENTITY_KEYS = ['kind', 'chain', 'startBlock', 'endBlock', 'finalityMs', 'internals', 'api'] as const

function formatIdentityField(key: keyof CheckpointIdentity, identity: CheckpointIdentity): number | string {
  return identity[key] ?? ABSENT_FIELDS[key] ?? 'the head'
}

const ABSENT_FIELDS: Readonly<Record<string, string>> = {
  kind: 'wallets',
  internals: 'listing',
  api: DEFAULT_API,
}
