import { startVitest } from 'vitest/node'

/** Runs one soak file by vitest, without its usual files, and leaves the verdict in the process's exit code. */
export async function runSoak(file, env) {
  const options = { include: [file], watch: false, env, disableConsoleIntercept: true, reporters: ['dot'] }
  const vitest = await startVitest('test', [], { run: true, ...options })
  await vitest.close()
}
