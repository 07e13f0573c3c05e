// npm run soak -- quirks [jobs, default 100] [seed, default 1]: random jobs against the embedded server with random quirks. Exports
// must be right, or `reconcile` must name the gap and the option that closes it. A failure prints its seed; to repeat it: quirks 1 <seed>.
import { runSoak } from './run-soak.js'

export async function soakQuirks([jobs = '100', seed = '1']) {
  await runSoak('test/soak/quirks.soak.ts', { SOAK_JOBS: jobs, SOAK_SEED: seed })
}
