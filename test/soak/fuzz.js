// node test/soak/fuzz.js [inputs, default 100000] [seed]: job files, pages, answers, checkpoints, locks, manifests, users' CSV, spoilt
// in every way; an error that is not in the table of failures, or a row of a wrong type, is a bug.
import { runSoak } from './run-soak.js'

const [inputs = '100000', seed = '1'] = process.argv.slice(2)
await runSoak('test/soak/fuzz.soak.ts', { SOAK_INPUTS: inputs, SOAK_SEED: seed })
