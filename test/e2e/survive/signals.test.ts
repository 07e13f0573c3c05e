import { once } from 'node:events'
import { expect, test } from 'vitest'
import { runCommand, startCommand } from '../../helpers/command.ts'
import { CRASH_JOBS, type CrashJob } from '../../helpers/crash-jobs.ts'
import { baselineOf, signalledRun } from '../../helpers/crash-run.ts'
import { faultyDiskEnv } from '../../helpers/faulty-disk.ts'
import { addresses, service } from '../../helpers/faulty-run.ts'
import { writeJobFile } from '../../helpers/jobs.ts'
import { type Fault, startLoopback } from '../../helpers/loopback.ts'
import { testSample } from '../../helpers/test-sample.ts'
import { countTicks } from '../../helpers/ticks.ts'

const SIGNALS = [
  { signal: 'SIGINT', exit: 130, code: 'INTERRUPTED' },
  { signal: 'SIGTERM', exit: 143, code: 'TERMINATED' },
] as const

/** Five seconds in ticks of 50 ms: the maximum time between a signal and the end of a run. */
const FIVE_SECONDS = 100

const [first] = CRASH_JOBS as [CrashJob]
const parquet: CrashJob = {
  ...first,
  what: 'Parquet of two tables',
  fields: { ...first.fields, format: 'parquet' },
}

testSample(
  0,
  [
    { job: first, ...SIGNALS[0] },
    { job: parquet, ...SIGNALS[1] },
  ],
  '$signal at any step of $job.what loses nothing',
  async ({ job, signal, exit }) => {
    const { steps } = await baselineOf(job)
    const places = (job === first ? [0.5] : [0.2, 0.5, 0.8]).map((share) => Math.round(share * steps.length))
    const ended = await Promise.all(places.map((at) => signalledRun(job, { how: signal, at })))
    expect(ended.map((run) => run.exit)).toContain(exit)
  },
)

const writeJob = () => writeJobFile('job', { endBlock: 421, addresses, concurrency: 2 })

test.for(SIGNALS)(
  '$signal ends a run with hanging requests within seconds',
  async ({ signal, exit, code }) => {
    let hang: () => void = () => {}
    const hanging = new Promise<void>((resolve) => {
      hang = resolve
    })
    const fault: Fault = ({ count }) => (count > 4 ? () => hang() : undefined)
    const { url, requests } = await startLoopback(service, fault)
    const { job } = writeJob()
    const child = startCommand(['run', job, '--base-url', url])
    await hanging
    const ticks = countTicks()
    child.kill(signal)
    const ended = await child.ended
    expect(ticks()).toBeLessThan(FIVE_SECONDS)
    expect([ended.exit, ended.stderr]).toEqual([
      exit,
      expect.stringContaining(`${code}: job: ${signal} was received`),
    ])
    expect(ended.stderr).toContain('Run the same command again: it resumes where it stopped.')
    expect((await runCommand(['status', job])).stdout).toMatch(
      /unfinished[\s\S]+[1-4] pages? with \d+ transactions kept/,
    )
    expect(requests.length).toBeGreaterThan(4)
  },
)

/** Starts a run whose disk stops responding at the fifth page. */
async function stalledRun() {
  const { url } = await startLoopback(service)
  const { job } = writeJob()
  const child = startCommand(['run', job, '--base-url', url], faultyDiskEnv({ how: 'stall', at: 14 }))
  while (!String(await once(child.stderr ?? child, 'data')).includes('stalls'));
  return child
}

test('a second signal ends a run at once if the first cannot', async () => {
  const child = await stalledRun()
  const ticks = countTicks()
  child.kill('SIGINT')
  while (!String(await once(child.stderr ?? child, 'data')).includes('SIGINT: stopping'));
  child.kill('SIGINT')
  expect((await child.ended).exit).toBe(130)
  expect(ticks()).toBeLessThan(FIVE_SECONDS / 2)
})

test('one signal ends a run with a hanging disk within seconds', { tags: ['long'] }, async () => {
  const child = await stalledRun()
  const ticks = countTicks()
  child.kill('SIGTERM')
  expect((await child.ended).exit).toBe(143)
  expect(ticks()).toBeLessThan(FIVE_SECONDS)
})
