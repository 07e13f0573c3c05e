import { createHash } from 'node:crypto'
import { ExportError } from '../errors.ts'
import type { Manifest } from '../manifest.ts'
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
 * Refuses an output that has another's name: it stands elsewhere and holds other wallets or another first block than
 * what was loaded under this name, so that loading it would remove the other's rows. Throws USAGE.
 */
export function refuseNamesake(identity: OutputIdentity, records: readonly LoadRecord[]): void {
  const mine = records.filter(({ outputId }) => outputId === identity.outputId)
  const kin = mine.some(
    ({ location, addressesSha256, startBlock }) =>
      location === identity.location ||
      (addressesSha256 === identity.addressesSha256 && startBlock === identity.startBlock),
  )
  if (mine.length === 0 || kin) return
  throw new ExportError(
    'USAGE',
    `another output of the name ${identity.job} was loaded here, from ${mine[0]?.location}, with other wallets or blocks`,
    { fix: 'Give this output a name of its own with --source NAME, or load it from where it was before.' },
  )
}
