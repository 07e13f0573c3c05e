// npm run soak -- machines [rounds, default 30] [seed] [folder, bucket or both, default both]: runs over a queue whose workers
// are killed, or paused and woken after the run, whose coordinator is interrupted and begins again with other wallets, that write
// two outputs at once, or whose Redis is lost; every export is verified and compared with that of one machine.
import { runSoak } from './run-soak.js'

export async function soakQueue([rounds = '30', seed = '1', location = 'both']) {
  await runSoak('test/soak/queue.soak.ts', { SOAK_ROUNDS: rounds, SOAK_SEED: seed, SOAK_PLACE: location })
}
