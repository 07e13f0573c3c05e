// npm run soak -- explorers [scenarios, default 200] [seed, default 1]: random incremental exports of the demo chain from explorer
// APIs, with faults and interruptions, compared with exports from the Data API. To repeat a failure: explorers 1 <seed>.
import { runSoak } from './run-soak.js'

export async function soakExplorers([scenarios = '200', seed = '1']) {
  await runSoak('test/soak/explorers.soak.ts', { SOAK_SCENARIOS: scenarios, SOAK_SEED: seed })
}
