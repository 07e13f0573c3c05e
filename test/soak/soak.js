// npm run soak -- [kills, default 1000] [seed]: kills exports of every kind at every durable step and at random points,
// restarts them until they complete, and compares every byte.
// npm run soak -- scenarios [number, default 2000] [seed] [path]: random jobs with random incremental runs; compares each row
// with a chain model written independently. A failure prints its seed and path, which repeat it.
// npm run soak -- machines [rounds, default 30] [seed] [folder, bucket or both]: runs with a queue; see queue.js.
// npm run soak -- quirks [jobs, default 100] [seed]: random jobs against the embedded server with quirks; see quirks.js.
// npm run soak -- explorers [scenarios, default 200] [seed]: exports from explorer APIs compared with the Data API; see explorers.js.
// npm run soak -- bucket: tests of exports, incremental runs, merges and loads with an object store instead of folders.

import { soakExplorers } from './explorers.js'
import { soakQueue } from './queue.js'
import { soakQuirks } from './quirks.js'
import { runSoak } from './run-soak.js'
import { soakScenarios } from './scenarios.js'

const [what = '1000', ...rest] = process.argv.slice(2)
if (what === 'scenarios') await soakScenarios(rest)
else if (what === 'quirks') await soakQuirks(rest)
else if (what === 'explorers') await soakExplorers(rest)
else if (what === 'machines') await soakQueue(rest)
else if (what === 'bucket') await runSoak('test/soak/bucket*.soak.ts', {})
else await runSoak('test/soak/crash.soak.ts', { SOAK_KILLS: what, SOAK_SEED: rest[0] ?? '1' })
