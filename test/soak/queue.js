// npm run soak -- machines [rounds, default 30] [seed] [folder, bucket or both, default both]: runs with a queue. Workers are
// killed, or paused and resumed after the run; the coordinator is interrupted and restarted with other wallets; two outputs are
// written at once; Redis loses its data. Every export is verified and compared with that of a single machine.
import { runSoak } from './run-soak.js'

export async function soakQueue([rounds = '30', seed = '1', location = 'both']) {
  await runSoak('test/soak/queue.soak.ts', { SOAK_ROUNDS: rounds, SOAK_SEED: seed, SOAK_PLACE: location })
}
