import { createHash } from 'node:crypto'
import { ExportError } from '../core/model/errors.ts'
import { MANIFEST_FILE, type Manifest } from '../core/model/manifest.ts'
import type { LoadRecord } from './target.ts'

/** Which output a load is of: later loads of the same output replace what earlier ones loaded. */
export type OutputIdentity = Pick<
  LoadRecord,
  'outputId' | 'job' | 'chainId' | 'location' | 'addressesSha256' | 'startBlock'
>

/** An output is named by its job (or by `source`) and chain, so that it may move and its wallets may change. */
export function identifyOutput(
  { job }: Pick<Manifest, 'job'>,
  { location, source }: { location: string; source?: string | undefined },
): OutputIdentity {
  const name = source ?? job.name
  const outputId = createHash('sha256').update(`${name}|${job.chain}`).digest('hex').slice(0, 16)
  const { chain: chainId, addressesSha256, startBlock } = job
  return { outputId, job: name, chainId, location, addressesSha256, startBlock }
}

/**
 * Chain ids that rows of a file carry, as one cell of its record: the one that there is as it is, several as a JSON list.
 * Rows have the id that the service gives, which may be another than the job's; none: the file has no rows.
 */
export function joinChainIds(ids: readonly string[]): string | undefined {
  const [only] = ids
  return ids.length === 1 && !only?.startsWith('[')
    ? only
    : ids.length === 0
      ? undefined
      : JSON.stringify(ids)
}

/** The chain ids that rows of a recorded file carry. */
export function chainIdsOf({ chainId }: Pick<LoadRecord, 'chainId'>): readonly string[] {
  return chainId.startsWith('[') ? (JSON.parse(chainId) as string[]) : [chainId]
}

/** What stands for the output itself among the records of its files. */
const MANIFEST = { table: '', path: MANIFEST_FILE, fromBlock: 0, toBlock: 0, rows: 0 } as const

/** The record that says which manifest of an output was loaded last, and from where. */
export function manifestRecord(identity: OutputIdentity, manifestSha256: string): LoadRecord {
  return { ...identity, ...MANIFEST, sha256: manifestSha256, loadedAt: new Date().toISOString() }
}

/**
 * Refuses an output that has another's name: it stands elsewhere and holds other wallets or another first block than
 * what was last loaded under this name, so that loading it would remove the other's rows. Throws USAGE.
 */
export function assertUniqueName(identity: OutputIdentity, records: readonly LoadRecord[]): void {
  const last = records.find(
    ({ outputId, table }) => outputId === identity.outputId && table === MANIFEST.table,
  )
  if (last === undefined || last.location === identity.location) return
  if (last.addressesSha256 === identity.addressesSha256 && last.startBlock === identity.startBlock) return
  throw new ExportError(
    'USAGE',
    `another output of the name ${identity.job} was loaded here, from ${last.location}, with other wallets or blocks`,
    { fix: 'Give this output a name of its own with --source NAME, or load it from where it was before.' },
  )
}
