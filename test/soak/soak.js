// node test/soak/soak.js [kills, default 1000] [seed]: kills exports of every kind at every border to the disk and at random places,
// starts them again until they are done, and compares every byte. Needs `npm run build` first.
import { runSoak } from './run-soak.js'

const [kills = '1000', seed = '1'] = process.argv.slice(2)
await runSoak('test/soak/crash.soak.ts', { SOAK_KILLS: kills, SOAK_SEED: seed })
