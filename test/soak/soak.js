// npm run soak -- [kills, default 1000] [seed]: kills exports of every kind at every durable step and at random points,
// restarts them until they complete, and compares every byte.
// npm run soak -- scenarios [number, default 2000] [seed] [path]: random jobs with random incremental runs; compares each row
// with a chain model written independently. A failure prints its seed and path, which repeat it.
// npm run soak -- bucket: tests of exports, incremental runs, merges and loads with an object store instead of folders.
// npm run soak -- NAME [VALUE …]: another soak of the table below; a failure prints its seed, which repeats it.

import { runSoak } from './run-soak.js'
import { soakScenarios } from './scenarios.js'

/** By name: its test file, and its arguments with their defaults, which the file reads from variables. */
const SOAKS = {
  // Random jobs against the embedded server with random quirks. Exports must be right, or `reconcile` must name the gap and
  // the option that closes it.
  quirks: ['quirks', { SOAK_JOBS: '100', SOAK_SEED: '1' }],
  // Random incremental exports of the demo chain from explorer APIs, with faults and interruptions, compared with exports from
  // the Data API.
  explorers: ['explorers', { SOAK_SCENARIOS: '200', SOAK_SEED: '1' }],
  // Runs with a queue. Workers are killed, or paused and resumed after the run; the coordinator is interrupted and restarted
  // with other wallets; two outputs are written at once; Redis loses its data. Every export is verified and compared with that
  // of a single machine. The last argument is `folder`, `bucket` or `both`.
  machines: ['queue', { SOAK_ROUNDS: '30', SOAK_SEED: '1', SOAK_PLACE: 'both' }],
  // Damages job files, pages, responses, checkpoints, locks, manifests and user CSV in every way. An error that is not in the
  // error table, or a row with a wrong type, is a bug.
  fuzz: ['fuzz', { SOAK_INPUTS: '100000', SOAK_SEED: '1' }],
  bucket: ['bucket*', {}],
}

const [what = '1000', ...values] = process.argv.slice(2)
if (what === 'scenarios') await soakScenarios(values)
else if (what in SOAKS) {
  const [file, defaults] = SOAKS[what]
  const env = Object.entries(defaults).map(([name, value], at) => [name, values[at] ?? value])
  await runSoak(`test/soak/${file}.soak.ts`, Object.fromEntries(env))
} else await runSoak('test/soak/crash.soak.ts', { SOAK_KILLS: what, SOAK_SEED: values[0] ?? '1' })
