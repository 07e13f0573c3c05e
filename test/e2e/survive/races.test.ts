import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand, startCommand } from '../../helpers/command.ts'
import { service } from '../../helpers/faulty-run.ts'
import { writeJobFile } from '../../helpers/jobs.ts'
import { type Fault, send, startLoopback } from '../../helpers/loopback.ts'
import { demoWallets } from '../../helpers/node-data.ts'
import { testSample } from '../../helpers/test-sample.ts'

function writeJob() {
  const written = writeJobFile('job', { endBlock: 421, addresses: demoWallets.slice(39, 42) })
  mkdirSync(join(written.output, '.walletlake'), { recursive: true })
  return written
}

testSample(
  1,
  [
    { left: 'nothing', lock: undefined },
    { left: 'the lock of a dead process', lock: { pid: 2 ** 22 + 7, ticks: '1' } },
    { left: 'the lock of another process of its number', lock: { pid: process.pid, ticks: '1' } },
    { left: 'a broken lock', lock: {} },
  ],
  'of three processes that race for $left, one exports and two report its lock',
  async ({ lock }) => {
    const { job, output } = writeJob()
    const holder = { ...lock, host: hostname(), startedAt: '2024-01-01T00:00:00.000Z' }
    if (lock !== undefined) writeFileSync(join(output, '.walletlake', 'lock'), JSON.stringify(holder))
    let release = () => {}
    const losersEnded = new Promise<void>((resolve) => {
      release = resolve
    })
    const waitForLosers: Fault = () => async (response, answer) => {
      await losersEnded
      send(response, answer)
    }
    const { url } = await startLoopback(service, waitForLosers)
    const racers = [1, 2, 3].map(() => startCommand(['run', job, '--base-url', url]))
    let ended = 0
    const results = await Promise.all(
      racers.map(async (racer) => {
        const result = await racer.ended
        ended += 1
        if (ended === 2) release()
        return { ...result, pid: racer.pid }
      }),
    )
    expect(results.map(({ exit }) => exit).sort()).toEqual([0, 8, 8])
    const winner = results.find(({ exit }) => exit === 0)?.pid
    for (const { stderr } of results.filter(({ exit }) => exit === 8)) {
      const words = `OUTPUT_LOCKED: job: process ${winner} on ${hostname()} has been exporting here since 20`
      expect(stderr).toContain(words)
    }
    expect(readdirSync(join(output, '.walletlake'))).toEqual(['done.json'])
    expect((await runCommand(['verify', output])).exit).toBe(0)
  },
)

test('the next process takes over the lock of a killed one', async () => {
  const { job, output } = writeJob()
  let first: ReturnType<typeof startCommand> | undefined
  const { url } = await startLoopback(service, ({ count }) =>
    count === 2 ? () => void first?.kill('SIGKILL') : undefined,
  )
  first = startCommand(['run', job, '--base-url', url])
  expect((await first.ended).exit).toBeNull()
  expect(readdirSync(join(output, '.walletlake'))).toContain('lock')
  expect(await runCommand(['run', job, '--base-url', url, '--quiet'])).toMatchObject({ exit: 0, stderr: '' })
})
