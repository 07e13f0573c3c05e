import { createHash } from 'node:crypto'
import { ExportError } from '../core/model/errors.ts'
import { MANIFEST_FILE, type Manifest } from '../core/model/manifest.ts'
import type { LoadRecord } from './target.ts'

/** Identifies the output of a load. Later loads of the same output replace rows of earlier ones. */
export type OutputIdentity = Pick<
  LoadRecord,
  'outputId' | 'job' | 'chainId' | 'location' | 'addressesSha256' | 'startBlock'
>

/**
 * Derives the identity from job name (or `source`) and chain, so that the output may move and its wallets may change.
 */
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
 * Encodes the chain ids of a file's rows as one cell of its record: a single id as it is, several as a JSON list,
 * undefined for none (a file without rows). Rows have the chain id that the service returns, which may differ from the
 * job's.
 */
export function joinChainIds(ids: readonly string[]): string | undefined {
  const [only] = ids
  return ids.length === 1 && !only?.startsWith('[')
    ? only
    : ids.length === 0
      ? undefined
      : JSON.stringify(ids)
}

/** Decodes the chain ids of a recorded file's rows. */
export function chainIdsOf({ chainId }: Pick<LoadRecord, 'chainId'>): readonly string[] {
  return chainId.startsWith('[') ? (JSON.parse(chainId) as string[]) : [chainId]
}

/** Field values that distinguish the record of the manifest from those of files. */
const MANIFEST = { table: '', path: MANIFEST_FILE, fromBlock: 0, toBlock: 0, rows: 0 } as const

/** Builds the record of the manifest that was last loaded, and its location. */
export function manifestRecord(identity: OutputIdentity, manifestSha256: string): LoadRecord {
  return { ...identity, ...MANIFEST, sha256: manifestSha256, loadedAt: new Date().toISOString() }
}

/**
 * Throws USAGE if another output was loaded under this name: one with another location, and other wallets or another
 * first block. Loading this output would delete the other's rows.
 */
export function assertUniqueName(identity: OutputIdentity, records: readonly LoadRecord[]): void {
  const last = records.find(
    ({ outputId, table }) => outputId === identity.outputId && table === MANIFEST.table,
  )
  if (last === undefined || last.location === identity.location) return
  if (last.addressesSha256 === identity.addressesSha256 && last.startBlock === identity.startBlock) return
  throw new ExportError(
    'USAGE',
    `another output named ${identity.job} was loaded into this database, from ${last.location}, with other wallets or blocks`,
    { fix: 'Give this output a unique name with --source NAME, or load it from its previous location.' },
  )
}
