import type { Job } from '../../../src/core/model/model.ts'
import { testJob } from '../jobs.ts'
import type { ObjectStore } from '../object-store.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { ChainModel } from './chain-types.ts'
import type { CoveredWallet } from './expected-rows.ts'
import type { ListedChain, ListingService } from './listing-service.ts'
import type { Scenario } from './scenario.ts'
import type { FetchedVersions } from './transaction-versions.ts'

export const BLOCKCHAIN_ID = '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpX5AX85Z1gdpp5p'

/** The state of a scenario between two of its runs. */
export type ScenarioState = {
  scenario: Scenario
  chainModel: ChainModel
  listed: ListedChain
  service: ListingService
  output: string
  /** The object store that the export is published to; undefined: it is published in `output`. */
  bucket: ObjectStore | undefined
  random: SeededRandom
  /** The job's wallets with their labels. */
  current: Map<string, string | null>
  /** Wallets that were removed from the job, as of their last run. */
  removed: Map<string, CoveredWallet>
  symbol: string | null
  fetched: FetchedVersions
  /** No later run fetches blocks below this one again, so they must not change. */
  finalBefore: number
  /** The current run fetches the blocks from this one on again. */
  refetchFrom: number
  /** Pages of earlier runs are lost: a run that needs them fetches everything from the first block on. */
  arePagesLost: boolean
  /** Wallets have fetched different versions of transactions in blocks that no run fetches again by itself. */
  areVersionsMixed: boolean
  /** End of the export, exclusive; undefined before the first run. */
  end: number | undefined
}

/** Prefix of the export's object keys. */
export const PREFIX = 'mine'

/** The job of the current run. */
export function jobOf({ scenario, output, bucket, service, current, symbol }: ScenarioState): Job {
  const { blockchainId, labels: _labels, packed, partitionBy, targetFileBytes, ...fields } = scenario.job
  const compression = fields.format === 'csv' ? (packed ? 'gzip' : 'none') : packed ? 'snappy' : 'zstd'
  const wallets = [...current].map(([address, label]) => ({ address, label }))
  const job = testJob({
    ...fields,
    addresses: [],
    ...(fields.endBlock === undefined ? {} : { finalityMs: 0 }),
    output,
    compression,
    nativeSymbol: symbol,
    chain: blockchainId ? BLOCKCHAIN_ID : '43114',
    ...(partitionBy === undefined ? {} : { partitionBy }),
    ...(targetFileBytes === undefined ? {} : { targetFileBytes }),
    service: { baseUrl: service.url },
  })
  const store = bucket && { store: { ...bucket.location, prefix: PREFIX }, keepRaw: false }
  return { ...job, ...store, wallets: wallets.sort((a, b) => (a.address < b.address ? -1 : 1)) }
}
