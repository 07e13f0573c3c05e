// node test/soak/fuzz.js [inputs, default 100000] [seed]: damages job files, pages, responses, checkpoints, locks, manifests and user CSV
// in every way. An error that is not in the error table, or a row with a wrong type, is a bug.
import { runSoak } from './run-soak.js'

const [inputs = '100000', seed = '1'] = process.argv.slice(2)
await runSoak('test/soak/fuzz.soak.ts', { SOAK_INPUTS: inputs, SOAK_SEED: seed })
