import { test } from 'vitest'
import { demoWallets } from '../helpers/node-data.ts'
import { checkQuirkJob, checkRandomJob } from '../helpers/quirks/check-quirk-job.ts'
import { testSample } from '../helpers/test-sample.ts'

// More of them: `npm run soak -- quirks`.
const SEEDS = [25, 47, 51, 59]

testSample(1, SEEDS, 'a random job is right although the service has quirks, seed %i', (seed) =>
  checkRandomJob(seed),
)

test(
  'reconcile names the wallets whose listed fees are too high, each with its first such transaction',
  { tags: ['long'] },
  () =>
    checkQuirkJob({
      quirks: ['fee-cap'],
      fields: { addresses: demoWallets.filter((_, at) => at % 5 === 2), fees: 'listed', endBlock: 421 },
      heads: [420],
      grows: false,
      maxRequests: undefined,
      isQueued: false,
    }),
)
