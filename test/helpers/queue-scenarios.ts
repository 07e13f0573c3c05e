import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { BucketLocation } from '../../src/core/model/model.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { bucketUrl } from '../../src/storage/bucket-url.ts'
import { fetchExport } from '../../src/storage/fetch-export.ts'
import { runCommand, startCommand } from './command.ts'
import { type Loopback, send, startLoopback } from './loopback.ts'
import { outputBytes } from './output-bytes.ts'
import { ADDRESSES, OTHER_ADDRESSES } from './queued-runs.ts'
import { createSeededRandom, type SeededRandom } from './seeded-random.ts'
import type { TestServer } from './shared-servers.ts'
import { tempFolder } from './temp-folder.ts'

/** Disturbances of queued runs. Afterwards, the export must equal that of a run on one machine byte for byte. */
export const ROUNDS = ['kills', 'paused worker', 'other wallets', 'two outputs', 'lost queue'] as const
type RoundKind = (typeof ROUNDS)[number]

export type Round = {
  kind: RoundKind
  seed: number
  server: TestServer
  /** Returns a new object store location per output. @default outputs are folders */
  newLocation?: (() => BucketLocation) | undefined
}

const WORKERS = 3
const WALLETS = ADDRESSES.slice(0, 9)
const PARTITIONS = ['blocks:100', 'blocks:150', 'month']

type StartedCommand = ReturnType<typeof startCommand>

/** The environment of one round: workers, a server whose requests trigger the disturbances, and outputs. */
type RoundContext = Round & {
  random: SeededRandom
  folder: string
  env: NodeJS.ProcessEnv
  /** Resolves when the server has received this many further requests. */
  waitForRequests(more: number): Promise<void>
  workers: StartedCommand[]
  startWorker(): StartedCommand
  /** Writes a job file and returns its path. */
  job(wallets: readonly string[]): string
  /** The output with this name, as a value of `--output`. */
  output(name: string): string
  run(job: string, output: string, ...more: string[]): StartedCommand
  /** Runs the job without a queue, into a folder. */
  runAlone(job: string, output: string): Promise<void>
  /** Asserts that an export passes `verify` and equals the one in a folder byte for byte. */
  expectSame(name: string, alone: string): Promise<void>
}

export async function runRound(round: Round): Promise<void> {
  await round.server.flush()
  const context = await openRound(round)
  for (let count = 0; count < WORKERS; count += 1) context.startWorker()
  await ROUND_RUNNERS[round.kind](context)
  for (const worker of context.workers) {
    worker.kill('SIGCONT')
    worker.kill('SIGTERM')
  }
  await Promise.all(context.workers.map(({ ended }) => ended))
}

const ROUND_RUNNERS: Record<RoundKind, (context: RoundContext) => Promise<void>> = {
  kills: async (context) => {
    const { random, workers, startWorker } = context
    const job = context.job(WALLETS)
    let run = context.run(job, 'many')
    for (let kill = 0; kill < 4; kill += 1) {
      const isRunning = await Promise.race([
        context.waitForRequests(random.between(0, 7) + 2).then(() => true),
        run.ended.then(() => false),
      ])
      if (!isRunning) break
      const at = random.between(0, WORKERS)
      const victim = at === WORKERS ? run : workers[at]
      victim?.kill('SIGKILL')
      await victim?.ended
      if (at === WORKERS) run = context.run(job, 'many')
      else workers[at] = startWorker()
    }
    await expectSuccess(run)
    await context.runAlone(job, 'alone')
    await context.expectSame('many', 'alone')
  },
  'paused worker': async (context) => {
    const { random, workers } = context
    const job = context.job(WALLETS)
    const run = context.run(job, 'many')
    await context.waitForRequests(random.between(0, 9) + 2)
    const paused = random.pick(workers)
    paused.kill('SIGSTOP')
    await expectSuccess(run)
    await context.runAlone(job, 'alone')
    paused.kill('SIGCONT')
    // The paused worker continues with a task of the finished run while the next run starts.
    const other = context.job([...WALLETS.slice(2), ...otherWallets(random)])
    await expectSuccess(context.run(other, 'many'))
    await context.runAlone(other, 'alone')
    paused.kill('SIGTERM')
    await paused.ended
    await context.expectSame('many', 'alone')
  },
  'other wallets': async (context) => {
    const { random, workers } = context
    const run = context.run(context.job(WALLETS), 'many')
    await context.waitForRequests(random.between(0, 9) + 2)
    const paused = random.pick(workers)
    paused.kill('SIGSTOP')
    run.kill(random.between(0, 1) === 0 ? 'SIGINT' : 'SIGKILL')
    await run.ended
    const other = context.job([...otherWallets(random), ...WALLETS.slice(random.between(0, 2))])
    const refused = await context.run(other, 'many').ended
    expect([refused.exit, refused.stderr.match(/^[A-Z_]+:/m)?.[0]]).toEqual([2, 'OUTPUT_CHANGED:'])
    const next = context.run(other, 'many', '--fresh')
    await Promise.race([context.waitForRequests(2), next.ended])
    paused.kill('SIGCONT')
    await expectSuccess(next)
    await context.runAlone(other, 'alone')
    await context.expectSame('many', 'alone')
  },
  'two outputs': async (context) => {
    const job = context.job(WALLETS)
    const runs = ['many', 'second'].map((name) => context.run(job, name))
    await Promise.all(runs.map(expectSuccess))
    await context.runAlone(job, 'alone')
    for (const name of ['many', 'second']) await context.expectSame(name, 'alone')
  },
  'lost queue': async (context) => {
    const { random, server } = context
    const job = context.job(WALLETS)
    const run = context.run(job, 'many')
    await context.waitForRequests(random.between(0, 11) + 2)
    if (random.between(0, 1) === 0) await server.flush()
    else await server.restart()
    await expectSuccess(run)
    await context.runAlone(job, 'alone')
    await context.expectSame('many', 'alone')
  },
}

const otherWallets = (random: SeededRandom) => OTHER_ADDRESSES.slice(0, 1 + random.between(0, 2))

async function expectSuccess(run: StartedCommand): Promise<void> {
  const { exit, stderr } = await run.ended
  expect([exit, stderr.match(/^[A-Z_]+: .*/m)?.[0]]).toEqual([0, undefined])
}

async function openRound(round: Round): Promise<RoundContext> {
  const { seed, server, newLocation } = round
  const random = createSeededRandom(seed)
  const folder = tempFolder()
  const { service, waitForRequests } = await startCountingService()
  const locations = new Map<string, BucketLocation>()
  const env = { WALLETLAKE_BASE_URL: service.url, WALLETLAKE_STATE_DIR: join(folder, 'state') }
  const workers: StartedCommand[] = []
  const start = (args: string[], cwd = folder) => {
    const started = startCommand(args, { ...env, ...endpointOf(locations) }, { cwd })
    onTestFinished(() => void started.kill('SIGKILL'))
    return started
  }
  const settings = settingsOf(random)
  const output = (name: string) => {
    if (newLocation === undefined) return join(folder, name)
    if (!locations.has(name)) locations.set(name, newLocation())
    return bucketUrl(locations.get(name) as BucketLocation)
  }
  output('many')
  let jobs = 0
  return {
    ...round,
    random,
    folder,
    env,
    waitForRequests,
    workers,
    output,
    startWorker: () => {
      const worker = start(['worker', '--queue', server.url, '--concurrency', '2'])
      if (workers.length < WORKERS) workers.push(worker)
      return worker
    },
    job: (wallets) => {
      const file = join(folder, `job-${++jobs}.json`)
      writeFileSync(file, JSON.stringify({ ...settings, name: 'round', addresses: wallets }))
      return file
    },
    run: (job, name, ...more) =>
      start(['run', job, '--output', output(name), '--queue', server.url, '--quiet', ...more]),
    runAlone: async (job, name) => {
      const { exit } = await runCommand(['run', job, '--output', join(folder, name), '--quiet'], env)
      expect(exit).toBe(0)
    },
    expectSame: async (name, alone) => {
      const { exit, stdout } = await runCommand(
        ['verify', output(name)],
        { ...env, ...endpointOf(locations) },
        { cwd: folder },
      )
      expect([exit, stdout]).toEqual([0, expect.stringContaining(': OK ')])
      const location = locations.get(name)
      const copy = location === undefined ? output(name) : tempFolder()
      if (location !== undefined) await fetchExport(location, copy)
      expect(outputBytes(copy)).toEqual(await withoutChanges(join(folder, alone), location))
      if (location === undefined)
        expect(existsSync(join(copy, '.walletlake', 'cluster', 'current.json'))).toBe(false)
    },
  }
}

const endpointOf = (locations: ReadonlyMap<string, BucketLocation>): NodeJS.ProcessEnv => {
  const [first] = locations.values()
  return first?.endpoint === undefined ? {} : { AWS_ENDPOINT_URL_S3: first.endpoint }
}

/** File hashes without `changes/`, which `fetchExport` does not download from an object store. */
async function withoutChanges(folder: string, location: BucketLocation | undefined) {
  const bytes = Object.entries(outputBytes(folder))
  return Object.fromEntries(bytes.filter(([path]) => location === undefined || !path.startsWith('changes/')))
}

function settingsOf(random: SeededRandom) {
  const format = random.between(0, 2) === 0 ? 'parquet' : 'csv'
  const partitionBy = random.pick(PARTITIONS)
  return { chain: '43114', endBlock: 300 + random.between(0, 120), format, partitionBy }
}

/** Starts the embedded service; `waitForRequests` resolves when it has received this many further requests. */
async function startCountingService(): Promise<{
  service: Loopback
  waitForRequests: RoundContext['waitForRequests']
}> {
  let count = 0
  const waiting: { until: number; resolve: () => void }[] = []
  const service = await startLoopback(createDataService(), () => {
    count += 1
    for (const waiter of waiting.splice(0)) {
      if (waiter.until <= count) waiter.resolve()
      else waiting.push(waiter)
    }
    return (response, original) => send(response, original)
  })
  const waitForRequests = (more: number) =>
    new Promise<void>((resolve) => {
      waiting.push({ until: count + more, resolve })
    })
  return { service, waitForRequests }
}
