import type { Job } from '../../../src/core/model/model.ts'
import { testJob } from '../jobs.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { ChainModel } from './chain-model.ts'
import type { CoveredWallet } from './expected-rows.ts'
import type { ListedChain, ListingService } from './listing-service.ts'
import type { Scenario } from './scenario.ts'

export const BLOCKCHAIN_ID = '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpX5AX85Z1gdpp5p'

/** Current state of a scenario. */
export type ScenarioState = {
  scenario: Scenario
  chainModel: ChainModel
  listed: ListedChain
  service: ListingService
  output: string
  random: SeededRandom
  /** Labels of the job's wallets, by address. */
  current: Map<string, string | null>
  /** Removed wallets, with their coverage in the last run that read them. */
  removed: Map<string, CoveredWallet>
  symbol: string | null
  /** Blocks below this one do not change any more, because no later run reads them again. */
  finalBefore: number
  /** End of the export (exclusive); undefined before the first run. */
  end: number | undefined
}

/** The job of the current run. */
export function jobOf({ scenario, output, service, current, symbol }: ScenarioState): Job {
  const { blockchainId, labels: _labels, compressed, partitionBy, targetFileBytes, ...fields } = scenario.job
  const compression =
    fields.format === 'csv' ? (compressed ? 'gzip' : 'none') : compressed ? 'snappy' : 'zstd'
  const wallets = [...current].map(([address, label]) => ({ address, label }))
  const job = testJob({
    ...fields,
    addresses: [],
    ...(fields.endBlock === undefined ? {} : { finalityMs: 0 }),
    ...{ output, compression, nativeSymbol: symbol },
    chain: blockchainId ? BLOCKCHAIN_ID : '43114',
    ...(partitionBy === undefined ? {} : { partitionBy }),
    ...(targetFileBytes === undefined ? {} : { targetFileBytes }),
    service: { baseUrl: service.url, apiKeyHeader: 'x-service-api-key', timeoutMs: 5_000 },
  })
  return { ...job, wallets: wallets.sort((a, b) => (a.address < b.address ? -1 : 1)) }
}
