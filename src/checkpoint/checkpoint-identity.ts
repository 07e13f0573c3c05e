import { type Api, DEFAULT_API } from '../core/model/api.ts'
import { API_FIELD, areDefaultFinalities, outputChanged } from '../core/model/output-changed.ts'

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
  throw outputChanged({
    what: `the output contains ${isDone ? 'an export' : 'an unfinished run'} of another job`,
    settings: differing.map((key) => ({
      field: FIELDS[key] ?? key,
      previous: formatIdentityField(key, stored),
      current: formatIdentityField(key, identity),
    })),
    ...(isDone ? { fix: 'Choose another --output, or start over with --fresh.' } : {}),
  })
}

function differingKeys({ stored, identity, isDone }: IdentifiedState): (keyof CheckpointIdentity)[] {
  if (stored === undefined) return []
  const mayFinalityDiffer = isDone || isOnlyOtherApi(stored, identity)
  return IDENTITY_KEYS.filter(
    (key) => stored[key] !== identity[key] && !(mayFinalityDiffer && key === 'finalityMs'),
  )
}

/** Whether `finality` differs only because the APIs have other defaults. */
function isOnlyOtherApi(...identities: readonly CheckpointIdentity[]): boolean {
  return areDefaultFinalities(...identities.map(({ api = DEFAULT_API, finalityMs }) => ({ api, finalityMs })))
}

const IDENTITY_KEYS = ['kind', 'chain', 'startBlock', 'endBlock', 'finalityMs', 'internals', 'api'] as const

/** The fields of job files that have another name than the key. */
const FIELDS: Readonly<Record<string, string>> = { finalityMs: 'finality', api: API_FIELD }

function formatIdentityField(key: keyof CheckpointIdentity, identity: CheckpointIdentity): number | string {
  if (key === 'finalityMs') return formatFinality(identity.finalityMs)
  return identity[key] ?? ABSENT_FIELDS[key] ?? 'the head'
}

const formatFinality = (ms: number) => (ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`)

const ABSENT_FIELDS: Readonly<Record<string, string>> = {
  kind: 'wallets',
  internals: 'listing',
  api: DEFAULT_API,
}
