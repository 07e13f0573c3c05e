import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Manifest } from '../../src/core/model/manifest.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataService } from '../../src/demo-server/data-service.ts'
import { type CommandResult, runCommand, startCommand } from './command.ts'
import type { CrashJob } from './crash-jobs.ts'
import { type DiskFault, faultyDiskEnv } from './faulty-disk.ts'
import { folderTree } from './folder-tree.ts'
import { type Fault, type Loopback, startLoopback } from './loopback.ts'
import { outputBytes } from './output-bytes.ts'
import type { SeededRandom } from './seeded-random.ts'
import { tempFolder } from './temp-folder.ts'

/** When a run is interrupted: at a disk operation, at a request, or after a number of milliseconds. `at` counts from 1. */
export type Interruption = { how: (typeof DISK_INTERRUPTIONS)[number] | 'request' | 'ms'; at: number }

const DISK_INTERRUPTIONS = ['kill', 'kill-after', 'torn', 'power-cut', 'SIGINT', 'SIGTERM'] as const

/** Files, requests and disk operations of an uninterrupted run. */
export type Baseline = { bytes: Record<string, string>; files: string[]; requests: number; steps: string[] }

/** Operations that make a change of the disk durable, or change names. */
const DURABLE_STEP = '^(\\w*sync|rename|link|unlink) '

export type CrashReport = { kills: number; starts: number; extraRequests: number; allowedRequests: number }

/** Servers by API and, for earlier states of the chain, by head. */
const services = new Map<string, DataService>()
const baselines = new Map<string, Promise<Baseline>>()

/** Runs a job without interruption, once per job. */
export function baselineOf(job: CrashJob): Promise<Baseline> {
  const baseline = baselines.get(job.what) ?? measureBaseline(job)
  baselines.set(job.what, baseline)
  return baseline
}

/** The folder of a job and its server. */
type CrashSetup = {
  folder: string
  jobFile: string
  output: string
  url: string
  requests: Loopback['requests']
  options: readonly string[]
  /** SHA-256 of the manifest of the export that --fresh replaces. */
  replaced: string | undefined
}

async function measureBaseline(job: CrashJob): Promise<Baseline> {
  const setup = await setUpCrashJob(job)
  const trace = join(setup.folder, 'trace')
  const { exit, stderr } = await start(setup, { how: 'count', trace }).ended
  expect([exit, stderr]).toEqual([job.exit, expect.any(String)])
  const { output, requests } = setup
  const steps = readFileSync(trace, 'utf8').trimEnd().split('\n')
  return { bytes: exportedBytes(job, output), files: filesIn(output), requests: requests.length, steps }
}

/** Numbers of the durable steps. */
export function durableStepsOf({ steps }: Baseline): number[] {
  const isDurable = new RegExp(DURABLE_STEP)
  return steps.flatMap((step, at) => (isDurable.test(step) ? [at + 1] : []))
}

/** A random interruption at any point of a run. */
export function randomInterruption({ steps, requests }: Baseline, random: SeededRandom): Interruption {
  const how = random.pick([...DISK_INTERRUPTIONS, 'request', 'request'] as const)
  return { how, at: random.between(1, how === 'request' ? requests : steps.length) }
}

/**
 * Interrupts a run at each of the given points, restarts it each time, and lets the last start finish. Asserts that no
 * manifest ever lists missing files, that the result equals the uninterrupted run byte for byte without leftover files, and
 * that a kill costs at most the requests in flight and one page per reader. (A power loss also costs unsynced data.)
 */
export async function crashRun(job: CrashJob, interruptions: readonly Interruption[]): Promise<CrashReport> {
  const baseline = await baselineOf(job)
  const onRequest: OnRequest = { act: () => {} }
  const setup = await setUpCrashJob(job, onRequest)
  const report = { kills: 0, starts: 0, extraRequests: 0, allowedRequests: 0 }
  let requests = 0
  for (const interruption of [...interruptions, undefined]) {
    const finished = isFinished(job, setup.output, baseline)
    const ended = await startAndInterrupt(setup, interruption, onRequest)
    report.starts += 1
    if ([null, 130, 143].includes(ended.exit)) report.kills += 1
    else expect([ended.exit, ended.stderr]).toEqual([job.exit, expect.any(String)])
    expectConsistentManifest(setup.output)
    // Once a run is complete, a further one without endBlock is a new export: its requests do not count.
    if (!finished) requests = setup.requests.length
  }
  expectSame(job, setup, baseline)
  report.extraRequests = requests - baseline.requests
  report.allowedRequests = report.kills * allowedRequests(job)
  if (interruptions.every(({ how }) => how !== 'power-cut'))
    expect(report.extraRequests).toBeLessThanOrEqual(report.allowedRequests)
  return report
}

/**
 * Lets a run complete, and resumes it from everything that a kill or a power cut before one of its durable steps would have
 * left. Asserts the same as `crashRun`.
 *
 * @returns the number of different states
 */
export async function resumeFromEveryState(job: CrashJob, after: 'kill' | 'power-cut'): Promise<number> {
  const states = join(tempFolder(), 'states')
  mkdirSync(states)
  const onRequest: OnRequest = { act: () => {} }
  const setup = await setUpCrashJob(job, onRequest)
  const { folder, output, requests } = setup
  /** For each request, the number of states before it. */
  const statesBefore: number[] = []
  onRequest.act = () => statesBefore.push(readdirSync(states).length)
  const scratch = join(folder, 'scratch')
  const plan = { how: 'copy', matching: DURABLE_STEP, output, to: states, after, scratch } as const
  const whole = await start(setup, plan).ended
  onRequest.act = () => {}
  expect([whole.exit, whole.stderr]).toEqual([job.exit, expect.any(String)])
  const baseline = { bytes: exportedBytes(job, output), files: filesIn(output) }
  const different = new Map(
    readdirSync(states)
      .sort()
      .map((name, at) => [folderTree(join(states, name)).join('\n'), { name, at }]),
  )
  for (const { name, at } of different.values()) {
    rmSync(output, { recursive: true, force: true })
    renameSync(join(states, name), output)
    expectConsistentManifest(output)
    const isComplete = isFinished(job, output, baseline)
    requests.length = 0
    const { exit, stderr } = await finish(setup)
    expect([name, exit, stderr]).toEqual([name, job.exit, expect.any(String)])
    expectSame(job, setup, baseline)
    const before = statesBefore.filter((count) => count <= at).length
    if (!isComplete && after === 'kill')
      expect(before + requests.length - statesBefore.length).toBeLessThanOrEqual(allowedRequests(job))
  }
  return different.size
}

/** Requests that a kill may cost: those in flight, and one page per reader. */
const allowedRequests = ({ explorer, fields }: CrashJob) =>
  (1 + (explorer?.requestsPerPage ?? 1)) * fields.concurrency

/**
 * Runs a job on a failing disk, then again on a working one. Asserts that the first run succeeds or fails with
 * `OUTPUT_FAILED` and a fix, that it leaves a consistent manifest, and that the result equals the uninterrupted run.
 */
export const faultyDiskRun = (job: CrashJob, plan: DiskFault) =>
  resumedRun(job, plan, ({ exit, stderr }) => {
    if (exit !== job.exit)
      expect([exit, stderr]).toEqual([7, expect.stringMatching(/^OUTPUT_FAILED: .+\nfix: .+\n/)])
  })

/**
 * Sends a signal at a disk operation of a run, then restarts it. The first run ends by the signal, or completes before.
 */
export const signalledRun = (job: CrashJob, plan: DiskFault) =>
  resumedRun(job, plan, ({ exit, stderr }) => {
    expect([[130, 143, job.exit].includes(exit ?? -1), stderr]).toEqual([true, stderr])
  })

async function resumedRun(
  job: CrashJob,
  plan: DiskFault,
  check: (first: CommandResult) => void,
): Promise<CommandResult> {
  const baseline = await baselineOf(job)
  const setup = await setUpCrashJob(job)
  const first = await start(setup, plan).ended
  check(first)
  expectConsistentManifest(setup.output)
  const last = await finish(setup)
  expect([last.exit, last.stderr]).toEqual([job.exit, expect.any(String)])
  expectSame(job, setup, baseline)
  return first
}

/** Asserts that an output has the files of the uninterrupted run, byte for byte. */
function expectSame(
  job: CrashJob,
  { output }: CrashSetup,
  { bytes, files }: Pick<Baseline, 'bytes' | 'files'>,
): void {
  expect(exportedBytes(job, output)).toEqual(bytes)
  expect(filesIn(output)).toEqual(files)
}

const isOpenEnded = ({ fields }: Pick<CrashJob, 'fields'>) =>
  'endBlock' in fields && fields.endBlock === undefined

/**
 * Hashes of the files. Without endBlock, a run after the last one may claim more coverage for a wallet: the block up to
 * which the run before it has proven that the service had indexed everything.
 */
function exportedBytes(job: Pick<CrashJob, 'fields'>, output: string): Record<string, string> {
  const bytes = outputBytes(output)
  const path = join(output, 'manifest.json')
  if (!isOpenEnded(job) || !existsSync(path)) return bytes
  const { coverage, completeToBlock: _, ...rest } = JSON.parse(readFileSync(path, 'utf8')) as Manifest
  const claims = coverage.map(({ toBlock: _toBlock, ...wallet }) => wallet)
  return { ...bytes, 'manifest.json': JSON.stringify({ ...rest, coverage: claims }) }
}

/** Whether an export is complete, even if its process died afterwards. */
function isFinished({ fields }: CrashJob, output: string, { bytes }: Pick<Baseline, 'bytes'>): boolean {
  if (!existsSync(output)) return false
  if (isOpenEnded({ fields }))
    return exportedBytes({ fields }, output)['manifest.json'] === bytes['manifest.json']
  return existsSync(join(output, 'manifest.json')) && !existsSync(join(output, '.walletlake', 'pages.log'))
}

function hashFile(path: string): string | undefined {
  return existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : undefined
}

type OnRequest = { act: () => void }

/** Writes the job file, starts the server, and creates the earlier export if the job has one. */
async function setUpCrashJob(job: CrashJob, onRequest?: OnRequest): Promise<CrashSetup> {
  const folder = tempFolder()
  const output = join(folder, 'out')
  const fault: Fault = (requests) => {
    onRequest?.act()
    return job.fault?.(requests)
  }
  let currentService = serviceOf(job, job.previous?.head)
  const { url, requests } = await startLoopback(
    { handle: (request) => currentService.handle(request) },
    fault,
  )
  const jobFile = join(folder, 'job.json')
  const options = job.options ?? []
  const setup: CrashSetup = { folder, jobFile, output, url, requests, options, replaced: undefined }
  mkdirSync(join(folder, 'scratch'))
  if (job.previous !== undefined) {
    writeFileSync(jobFile, JSON.stringify({ ...job.fields, output, ...job.previous.fields }))
    expect(await finish(setup)).toMatchObject({ exit: job.exit })
    if (job.previous.withoutCheckpoint === true) rmSync(join(output, '.walletlake'), { recursive: true })
    if (job.previous.isReplaced === true) setup.replaced = hashFile(join(output, 'manifest.json'))
    requests.length = 0
    currentService = serviceOf(job)
  }
  writeFileSync(jobFile, JSON.stringify({ ...job.fields, output }))
  return setup
}

/** The server of a job, of the whole chain or up to a head. */
function serviceOf({ explorer }: CrashJob, head?: number): DataService {
  const key = `${explorer?.api} ${head}`
  const service = services.get(key) ?? createDataService({ api: explorer?.api, head })
  services.set(key, service)
  return service
}

/** A run that replaces an export is started with --fresh, and resumed without it. */
function freshOption({ output, replaced }: CrashSetup): string[] {
  if (replaced === undefined || hashFile(join(output, 'manifest.json')) !== replaced) return []
  const log = join(output, '.walletlake', 'pages.log')
  return existsSync(log) && readFileSync(log, 'latin1').includes('"fresh":true') ? [] : ['--fresh']
}

function commandLine(setup: CrashSetup): string[] {
  const { jobFile, url, options } = setup
  return ['run', jobFile, '--base-url', url, '--quiet', ...options, ...freshOption(setup)]
}

const start = (setup: CrashSetup, plan?: DiskFault) =>
  startCommand(commandLine(setup), plan === undefined ? {} : faultyDiskEnv(plan))

/** Runs the job to its end, in this process. */
const finish = (setup: CrashSetup) => runCommand(commandLine(setup))

/** Starts the job and interrupts it. `exit` is null if the interruption ended the process. */
async function startAndInterrupt(
  setup: CrashSetup,
  interruption: Interruption | undefined,
  onRequest: OnRequest,
): Promise<CommandResult> {
  if (interruption === undefined) return finish(setup)
  const { how, at } = interruption
  if (how === 'request' || how === 'ms') {
    const child = start(setup)
    const kill = () => void child.kill('SIGKILL')
    const last = setup.requests.length + at
    if (how === 'request') onRequest.act = () => setup.requests.length === last && kill()
    const timer = how === 'ms' ? setTimeout(kill, at) : undefined
    const ended = await child.ended
    clearTimeout(timer)
    onRequest.act = () => {}
    return ended
  }
  if (how !== 'power-cut') return start(setup, { how, at }).ended
  return start(setup, { how, at, scratch: join(setup.folder, 'scratch') }).ended
}

/** Asserts that every file in the manifest exists, with the listed size and hash. */
export function expectConsistentManifest(output: string): void {
  const path = join(output, 'manifest.json')
  if (!existsSync(path)) return
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest
  const listed = Object.values(manifest.tables).flatMap(({ files }) => files)
  const found = listed.map((file) => {
    const path = join(output, file.path)
    return { ...file, bytes: existsSync(path) ? statSync(path).size : -1, sha256: hashFile(path) }
  })
  expect(found).toEqual(listed)
  const rejects = join(output, 'rejects.ndjson')
  const lines = existsSync(rejects) ? readFileSync(rejects, 'utf8').split('\n').length - 1 : 0
  expect(lines).toBeGreaterThanOrEqual(manifest.rejects)
}

/** All paths of an output except the run reports, of which each run writes one. */
function filesIn(output: string): string[] {
  const entries = readdirSync(output, { recursive: true, encoding: 'utf8' })
  return entries.filter((path) => !/^runs\/[\w-]+\.json$/.test(path)).sort()
}
