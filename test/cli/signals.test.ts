import { expect, test, vi } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { run } from '../../src/export/run.ts'
import { runCommand } from '../helpers/command.ts'
import { testJob } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/** Calls the newest handler of SIGINT. The time limit that it sets for the end of the process is never reached. */
function interrupt(): void {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  process.listeners('SIGINT').at(-1)?.('SIGINT')
  vi.useRealTimers()
}

test.for(['reconcile', 'audit', 'prices'])('an interrupted %s says that it starts over', async (command) => {
  const output = tempFolder()
  await run([testJob({ addresses: demoWallets.slice(0, 1), endBlock: 60, output })])
  const { url } = await startLoopback(createDataService(), ({ count }) =>
    count === 1 ? interrupt : () => undefined,
  )
  const { exit, stderr } = await runCommand([command, output, '--base-url', url])
  expect(exit).toBe(130)
  expect(stderr).toContain('SIGINT: stopping; the same command starts over\n')
  expect(stderr).toContain('fix: Run the same command again: it starts over.\n')
})
