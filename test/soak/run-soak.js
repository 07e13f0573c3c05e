import { startVitest } from 'vitest/node'

/** Runs one soak file with vitest instead of the usual test files, and sets the exit code of the process. */
export async function runSoak(file, env) {
  const options = { include: [file], watch: false, env, disableConsoleIntercept: true, reporters: ['dot'] }
  const vitest = await startVitest('test', [], { run: true, ...options })
  await vitest.close()
}
