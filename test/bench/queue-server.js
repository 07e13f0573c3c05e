// Test helpers for plain JavaScript programs, which Node runs without compilation.
import { build } from 'esbuild'

/** Bundles and imports a TypeScript module. Packages remain external. */
async function importTypeScript(url) {
  const entryPoints = [new URL(url).pathname]
  const options = { bundle: true, write: false, platform: 'node', format: 'esm', packages: 'external' }
  const { outputFiles } = await build({ ...options, entryPoints })
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`)
}

/** Starts a Redis server like the tests do. */
export async function startQueueServer() {
  const { startRedis } = await importTypeScript(new URL('../helpers/start-redis.ts', import.meta.url))
  return startRedis()
}
