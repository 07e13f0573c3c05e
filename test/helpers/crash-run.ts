import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Manifest } from '../../src/core/model/manifest.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataService } from '../../src/demo-server/data-service.ts'
import { type CommandResult, startCommand } from './command.ts'
import type { CrashJob } from './crash-jobs.ts'
import { type DiskFault, faultyDiskEnv } from './faulty-disk.ts'
import { type Fault, type Loopback, startLoopback } from './loopback.ts'
import { outputBytes } from './output-bytes.ts'
import type { SeededRandom } from './seeded-random.ts'
import { tempFolder } from './temp-folder.ts'

/** Where a run is ended: at a step to the disk, when the service has got so many requests, or after so long. */
export type Interruption = { how: (typeof DISK_INTERRUPTIONS)[number] | 'request' | 'ms'; at: number }

const DISK_INTERRUPTIONS = ['kill', 'kill-after', 'torn', 'power-cut', 'SIGINT', 'SIGTERM'] as const

/** What a job leaves, and costs, when nothing disturbs it. */
export type Baseline = { bytes: Record<string, string>; files: string[]; requests: number; steps: string[] }

export type CrashReport = { kills: number; starts: number; extraRequests: number; allowedRequests: number }

const service = createDataService()
/** The same chain as it was, by its last block then. */
const earlierServices = new Map<number, DataService>()
const baselines = new Map<string, Promise<Baseline>>()

/** The undisturbed run of a job, once for all. */
export function baselineOf(job: CrashJob): Promise<Baseline> {
  const baseline = baselines.get(job.what) ?? measureBaseline(job)
  baselines.set(job.what, baseline)
  return baseline
}

/** A job's folder, and the service that it asks. */
type CrashSetup = {
  folder: string
  jobFile: string
  output: string
  url: string
  requests: Loopback['requests']
  options: readonly string[]
  /** The manifest of an export that is to be replaced by --fresh. */
  replaced: string | undefined
}

async function measureBaseline(job: CrashJob): Promise<Baseline> {
  const setup = await setUpCrashJob(job)
  const trace = join(setup.folder, 'trace')
  const { exit, stderr } = await start(setup, { how: 'count', trace }).ended
  expect([exit, stderr]).toEqual([job.exit, expect.any(String)])
  const { output, requests } = setup
  const steps = readFileSync(trace, 'utf8').trimEnd().split('\n')
  return { bytes: outputBytes(output), files: filesIn(output), requests: requests.length, steps }
}

/** A place to kill a run at that dice choose, anywhere in it. */
export function randomInterruption({ steps, requests }: Baseline, random: SeededRandom): Interruption {
  const how = random.pick([...DISK_INTERRUPTIONS, 'request', 'request'] as const)
  return { how, at: random.between(1, how === 'request' ? requests : steps.length) }
}

/** The steps at which bytes or names are made to last, or names change. */
export function durableStepsOf({ steps }: Baseline): number[] {
  return steps.flatMap((step, at) => (/^(\w*sync|rename|link|unlink) /.test(step) ? [at + 1] : []))
}

/**
 * Kills a job's run at each cut, starts it again, and lets the last start run to its end. Checks that no manifest on the
 * way lists what is not there, that the end is byte for byte the calm one with nothing left over, and that a kill costs
 * no more than the requests in flight and one page a reader. (A loss of power also costs what was not synced.)
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
    // What was finished and is asked for again without an endBlock is a new export.
    if (!finished) requests = setup.requests.length
  }
  expect(outputBytes(setup.output)).toEqual(baseline.bytes)
  expect(filesIn(setup.output)).toEqual(baseline.files)
  report.extraRequests = requests - baseline.requests
  report.allowedRequests = report.kills * 2 * job.fields.concurrency
  if (interruptions.every(({ how }) => how !== 'power-cut'))
    expect(report.extraRequests).toBeLessThanOrEqual(report.allowedRequests)
  return report
}

/**
 * Lets the disk of a job's run fail, then starts it again on a good one. Checks that the failure is the output's or
 * none, says so with a fix, leaves no manifest of what is not there, and that the end is the calm one.
 */
export async function faultyDiskRun(job: CrashJob, plan: DiskFault): Promise<CommandResult> {
  const baseline = await baselineOf(job)
  const setup = await setUpCrashJob(job)
  const broken = await start(setup, plan).ended
  if (broken.exit !== job.exit) {
    expect([broken.exit, broken.stderr]).toEqual([7, expect.stringMatching(/^OUTPUT_FAILED: .+\nfix: .+\n/)])
  }
  expectConsistentManifest(setup.output)
  const good = await start(setup).ended
  expect([good.exit, good.stderr]).toEqual([job.exit, expect.any(String)])
  expect(outputBytes(setup.output)).toEqual(baseline.bytes)
  expect(filesIn(setup.output)).toEqual(baseline.files)
  return broken
}

/** Sends a signal at a step of a job's run, then starts it again. The first ends by the signal, or was done before. */
export async function signalledRun(job: CrashJob, plan: DiskFault): Promise<CommandResult> {
  const baseline = await baselineOf(job)
  const setup = await setUpCrashJob(job)
  const signalled = await start(setup, plan).ended
  const { exit, stderr } = signalled
  expect([[130, 143, job.exit].includes(exit ?? -1), stderr]).toEqual([true, stderr])
  expectConsistentManifest(setup.output)
  const last = await start(setup).ended
  expect([last.exit, last.stderr]).toEqual([job.exit, expect.any(String)])
  expect(outputBytes(setup.output)).toEqual(baseline.bytes)
  expect(filesIn(setup.output)).toEqual(baseline.files)
  return signalled
}

/** True where an export is complete, though its process may have died since. */
function isFinished({ fields }: CrashJob, output: string, { bytes }: Baseline): boolean {
  if ('endBlock' in fields && fields.endBlock === undefined)
    return hashFile(join(output, 'manifest.json')) === bytes['manifest.json']
  return existsSync(join(output, 'manifest.json')) && !existsSync(join(output, '.walletlake', 'pages.log'))
}

function hashFile(path: string): string | undefined {
  return existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : undefined
}

type OnRequest = { act: () => void }

/** Writes the job, starts its service, and lets an earlier export stand where the job asks for one. */
async function setUpCrashJob(job: CrashJob, onRequest?: OnRequest): Promise<CrashSetup> {
  const folder = tempFolder()
  const output = join(folder, 'out')
  const fault: Fault = (requests) => {
    onRequest?.act()
    return job.fault?.(requests)
  }
  let currentService: DataService = earlierService(job.previous?.head)
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
    expect(await start(setup).ended).toMatchObject({ exit: job.exit })
    if (job.previous.forgotten === true) rmSync(join(output, '.walletlake'), { recursive: true })
    if (job.previous.isAnother === true) setup.replaced = hashFile(join(output, 'manifest.json'))
    requests.length = 0
    currentService = service
  }
  writeFileSync(jobFile, JSON.stringify({ ...job.fields, output }))
  return setup
}

function earlierService(head: number | undefined): DataService {
  if (head === undefined) return service
  const earlier = earlierServices.get(head) ?? createDataService({ head })
  earlierServices.set(head, earlier)
  return earlier
}

/** A run that is to replace another export is begun with --fresh, and goes on without it. */
function freshOption({ output, replaced }: CrashSetup): string[] {
  if (replaced === undefined || hashFile(join(output, 'manifest.json')) !== replaced) return []
  const log = join(output, '.walletlake', 'pages.log')
  return existsSync(log) && readFileSync(log, 'latin1').includes('"fresh":true') ? [] : ['--fresh']
}

function start(setup: CrashSetup, plan?: DiskFault) {
  const { jobFile, url, options } = setup
  const env = plan === undefined ? {} : faultyDiskEnv(plan)
  return startCommand(['run', jobFile, '--base-url', url, '--quiet', ...options, ...freshOption(setup)], env)
}

/** One start that the cut may end: `exit` is null where it did. */
async function startAndInterrupt(
  setup: CrashSetup,
  interruption: Interruption | undefined,
  onRequest: OnRequest,
): Promise<CommandResult> {
  if (interruption === undefined) return start(setup).ended
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

/** Whatever a manifest lists is there, to the byte. */
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

/** Every path of an output but the reports of its runs, which are one a run. */
function filesIn(output: string): string[] {
  const entries = readdirSync(output, { recursive: true, encoding: 'utf8' })
  return entries.filter((path) => !/^runs\/[\w-]+\.json$/.test(path)).sort()
}
