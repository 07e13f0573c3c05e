// Helpers of the tests for programs that Node runs as they are.
import { build } from 'esbuild'

/** Imports a module in TypeScript, with all that it imports of ours. */
async function importTypeScript(url) {
  const entryPoints = [new URL(url).pathname]
  const options = { bundle: true, write: false, platform: 'node', format: 'esm', packages: 'external' }
  const { outputFiles } = await build({ ...options, entryPoints })
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`)
}

/** The servers that machines may share, by the word for them on the command line. */
export async function startQueueServer(word = 'redis') {
  const helpers = {
    redis: ['./start-redis.ts', 'startRedis'],
    postgres: ['../load/start-postgres.ts', 'startPostgres'],
  }
  if (helpers[word] === undefined) throw new Error(`no server ${word}; there are redis, postgres`)
  const [path, name] = helpers[word]
  const module = await importTypeScript(new URL(path, import.meta.url))
  return module[name]()
}
