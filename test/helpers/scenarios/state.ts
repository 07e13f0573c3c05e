import type { Job } from '../../../src/core/model/model.ts'
import { testJob } from '../jobs.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { ChainModel } from './chain-model.ts'
import type { CoveredWallet } from './expected-rows.ts'
import type { ListedChain, ListingService } from './listing-service.ts'
import type { Scenario } from './scenario.ts'

export const BLOCKCHAIN_ID = '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpX5AX85Z1gdpp5p'

/** Where the playing of a scenario has got to. */
export type ScenarioState = {
  scenario: Scenario
  chainModel: ChainModel
  listed: ListedChain
  service: ListingService
  output: string
  random: SeededRandom
  /** Wallets of the job, with their labels. */
  current: Map<string, string | null>
  /** Wallets that left, as they were read last. */
  removed: Map<string, CoveredWallet>
  symbol: string | null
  /** Blocks below this one stay as they are: no later night reads them again. */
  finalBefore: number
  /** End of the export; undefined before the first night. */
  end: number | undefined
}

/** The job as it is tonight. */
export function jobOf({ scenario, output, service, current, symbol }: ScenarioState): Job {
  const { blockchainId, labels: _labels, packed, partitionBy, targetFileBytes, ...fields } = scenario.job
  const compression = fields.format === 'csv' ? (packed ? 'gzip' : 'none') : packed ? 'snappy' : 'zstd'
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
