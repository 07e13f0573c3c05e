import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { runSoak } from './run-soak.js'

/** Runs a number of scenarios in one process per core. A failed scenario can be repeated by its seed and path. */
export async function soakScenarios([number = '2000', seed = '1', path]) {
  const shards = path === undefined ? Math.min(availableParallelism(), Number(number)) : 1
  const share = Math.ceil(Number(number) / shards)
  const exits = await Promise.all(
    Array.from({ length: shards }, async (_, at) => {
      const args = [
        fileURLToPath(import.meta.url),
        String(share),
        String(Number(seed) + at),
        ...(path ? [path] : []),
      ]
      const [exit] = await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'close')
      return exit
    }),
  )
  if (exits.some((exit) => exit !== 0)) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [number = '', seed = '', path = ''] = process.argv.slice(2)
  console.log(`${number} scenarios of seed ${seed}`)
  await runSoak('test/soak/scenarios.soak.ts', { SOAK_SCENARIOS: number, SOAK_SEED: seed, SOAK_PATH: path })
}
