import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { BucketPlace } from '../../src/core/model/model.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { DEMO_WALLETS } from '../../src/demo-server/demo-wallets.ts'
import { nameOfPlace } from '../../src/storage/bucket-url.ts'
import { fetchExport } from '../../src/storage/fetch-export.ts'
import { runCommand, startCommand } from './command.ts'
import { type Loopback, send, startLoopback } from './loopback.ts'
import { outputBytes } from './output-bytes.ts'
import { createDice, type Dice } from './seeded-random.ts'
import type { TestServer } from './shared-servers.ts'
import { tempFolder } from './temp-folder.ts'

/** What happens to a run over a queue, or to two; the export has the bytes of one machine afterwards. */
export const ROUNDS = ['kills', 'paused worker', 'other wallets', 'two outputs', 'lost queue'] as const
type RoundKind = (typeof ROUNDS)[number]

export type Round = {
  kind: RoundKind
  seed: number
  server: TestServer
  /** A place in an object store for each output; absent: folders. */
  place?: (() => BucketPlace) | undefined
}

const WORKERS = 3
const WALLETS = DEMO_WALLETS.slice(0, 12).map((address) => address.toLowerCase())
const PARTITIONS = ['blocks:60', 'blocks:150', 'month']

type Started = ReturnType<typeof startCommand>

/** The machines of one round: workers, a service whose requests set off what happens, and outputs. */
type Ground = Round & {
  dice: Dice
  folder: string
  env: NodeJS.ProcessEnv
  /** Resolves when the service has been asked so often more. */
  asked(more: number): Promise<void>
  workers: Started[]
  startWorker(): Started
  /** Writes a job and gives its file. */
  job(wallets: readonly string[]): string
  /** The output of this name, as `--output` takes it. */
  output(name: string): string
  run(job: string, output: string, ...more: string[]): Started
  /** The same on one machine, into a folder. */
  runAlone(job: string, output: string): Promise<void>
  /** Expects an export to be good, with the bytes of the one in a folder. */
  expectSame(name: string, alone: string): Promise<void>
}

export async function playRound(round: Round): Promise<void> {
  await round.server.empty()
  const ground = await openGround(round)
  for (let count = 0; count < WORKERS; count += 1) ground.startWorker()
  await PLAYS[round.kind](ground)
  for (const worker of ground.workers) {
    worker.kill('SIGCONT')
    worker.kill('SIGTERM')
  }
  await Promise.all(ground.workers.map(({ ended }) => ended))
}

const PLAYS: Record<RoundKind, (ground: Ground) => Promise<void>> = {
  kills: async (ground) => {
    const { dice, workers, startWorker } = ground
    const job = ground.job(WALLETS)
    let run = ground.run(job, 'many')
    for (let kill = 0; kill < 4; kill += 1) {
      const isThere = await Promise.race([
        ground.asked(dice.between(0, 7) + 2).then(() => true),
        run.ended.then(() => false),
      ])
      if (!isThere) break
      const at = dice.between(0, WORKERS)
      const victim = at === WORKERS ? run : workers[at]
      victim?.kill('SIGKILL')
      await victim?.ended
      if (at === WORKERS) run = ground.run(job, 'many')
      else workers[at] = startWorker()
    }
    await expectDone(run)
    await ground.runAlone(job, 'alone')
    await ground.expectSame('many', 'alone')
  },
  'paused worker': async (ground) => {
    const { dice, workers } = ground
    const job = ground.job(WALLETS)
    const run = ground.run(job, 'many')
    await ground.asked(dice.between(0, 9) + 2)
    const paused = dice.pick(workers)
    paused.kill('SIGSTOP')
    await expectDone(run)
    await ground.runAlone(job, 'alone')
    paused.kill('SIGCONT')
    // What it has under way belongs to a run that is over; the next run begins meanwhile.
    const other = ground.job([...WALLETS.slice(2), ...otherWallets(dice)])
    await expectDone(ground.run(other, 'many'))
    await ground.runAlone(other, 'alone')
    paused.kill('SIGTERM')
    await paused.ended
    await ground.expectSame('many', 'alone')
  },
  'other wallets': async (ground) => {
    const { dice, workers } = ground
    const run = ground.run(ground.job(WALLETS), 'many')
    await ground.asked(dice.between(0, 9) + 2)
    const paused = dice.pick(workers)
    paused.kill('SIGSTOP')
    run.kill(dice.between(0, 1) === 0 ? 'SIGINT' : 'SIGKILL')
    await run.ended
    const other = ground.job([...otherWallets(dice), ...WALLETS.slice(dice.between(0, 2))])
    const refused = await ground.run(other, 'many').ended
    expect([refused.exit, refused.stderr.match(/^[A-Z_]+:/m)?.[0]]).toEqual([2, 'OUTPUT_CHANGED:'])
    const next = ground.run(other, 'many', '--fresh')
    await Promise.race([ground.asked(2), next.ended])
    paused.kill('SIGCONT')
    await expectDone(next)
    await ground.runAlone(other, 'alone')
    await ground.expectSame('many', 'alone')
  },
  'two outputs': async (ground) => {
    const job = ground.job(WALLETS)
    const runs = ['many', 'second'].map((name) => ground.run(job, name))
    await Promise.all(runs.map(expectDone))
    await ground.runAlone(job, 'alone')
    for (const name of ['many', 'second']) await ground.expectSame(name, 'alone')
  },
  'lost queue': async (ground) => {
    const { dice, server } = ground
    const job = ground.job(WALLETS)
    const run = ground.run(job, 'many')
    await ground.asked(dice.between(0, 11) + 2)
    if (dice.between(0, 1) === 0) await server.empty()
    else await server.restart()
    await expectDone(run)
    await ground.runAlone(job, 'alone')
    await ground.expectSame('many', 'alone')
  },
}

const otherWallets = (dice: Dice) =>
  DEMO_WALLETS.slice(WALLETS.length, WALLETS.length + 1 + dice.between(0, 2)).map((address) =>
    address.toLowerCase(),
  )

async function expectDone(run: Started): Promise<void> {
  const { exit, stderr } = await run.ended
  expect([exit, stderr.match(/^[A-Z_]+: .*/m)?.[0]]).toEqual([0, undefined])
}

async function openGround(round: Round): Promise<Ground> {
  const { seed, server, place } = round
  const dice = createDice(seed)
  const folder = tempFolder()
  const { service, asked } = await startCounted()
  const places = new Map<string, BucketPlace>()
  const env = { WALLETLAKE_BASE_URL: service.url, WALLETLAKE_STATE_DIR: join(folder, 'state') }
  const workers: Started[] = []
  const start = (args: string[], cwd = folder) => {
    const started = startCommand(args, { ...env, ...endpointOf(places) }, { cwd })
    onTestFinished(() => void started.kill('SIGKILL'))
    return started
  }
  const settings = settingsOf(dice)
  const output = (name: string) => {
    if (place === undefined) return join(folder, name)
    if (!places.has(name)) places.set(name, place())
    return nameOfPlace(places.get(name) as BucketPlace)
  }
  output('many')
  let jobs = 0
  return {
    ...{ ...round, dice, folder, env, asked, workers, output },
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
      const { exit } = await start(['run', job, '--output', join(folder, name), '--quiet']).ended
      expect(exit).toBe(0)
    },
    expectSame: async (name, alone) => {
      const { exit, stdout } = await runCommand(
        ['verify', output(name)],
        { ...env, ...endpointOf(places) },
        { cwd: folder },
      )
      expect([exit, stdout]).toEqual([0, expect.stringContaining(': good ')])
      const at = places.get(name)
      const copy = at === undefined ? output(name) : tempFolder()
      if (at !== undefined) await fetchExport(at, copy)
      expect(outputBytes(copy)).toEqual(await withoutChanges(join(folder, alone), at))
      if (at === undefined)
        expect(existsSync(join(copy, '.walletlake', 'cluster', 'current.json'))).toBe(false)
    },
  }
}

const endpointOf = (places: ReadonlyMap<string, BucketPlace>): NodeJS.ProcessEnv => {
  const [first] = places.values()
  return first?.endpoint === undefined ? {} : { AWS_ENDPOINT_URL_S3: first.endpoint }
}

/** The lists of changes are not fetched from an object store. */
async function withoutChanges(folder: string, place: BucketPlace | undefined) {
  const bytes = Object.entries(outputBytes(folder))
  return Object.fromEntries(bytes.filter(([path]) => place === undefined || !path.startsWith('changes/')))
}

function settingsOf(dice: Dice) {
  const format = dice.between(0, 2) === 0 ? 'parquet' : 'csv'
  const partitionBy = dice.pick(PARTITIONS)
  return { chain: '43114', endBlock: 300 + dice.between(0, 120), format, partitionBy }
}

/** The embedded service; `asked` resolves when it has been asked so often more. */
async function startCounted(): Promise<{ service: Loopback; asked: Ground['asked'] }> {
  let count = 0
  const waiting: { until: number; go: () => void }[] = []
  const service = await startLoopback(createDataService(), () => {
    count += 1
    for (const one of waiting.splice(0)) {
      if (one.until <= count) one.go()
      else waiting.push(one)
    }
    return (response, answer) => send(response, answer)
  })
  const asked = (more: number) =>
    new Promise<void>((go) => {
      waiting.push({ until: count + more, go })
    })
  return { service, asked }
}
