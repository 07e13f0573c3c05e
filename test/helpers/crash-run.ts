import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Manifest } from '../../src/core/model/manifest.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataService } from '../../src/demo-server/data-service.ts'
import { type Ended, startCommand } from './command.ts'
import type { CrashJob } from './crash-jobs.ts'
import { breakingDisk, type DiskPlan } from './faulty-disk.ts'
import { type Fault, type Loopback, startLoopback } from './loopback.ts'
import { outputBytes } from './output-bytes.ts'
import type { Dice } from './seeded-random.ts'
import { tempFolder } from './temp-folder.ts'

/** Where a run is ended: at a step to the disk, when the service has got so many requests, or after so long. */
export type Cut = { how: (typeof STEP_CUTS)[number] | 'request' | 'ms'; at: number }

const STEP_CUTS = ['kill', 'kill-after', 'torn', 'power-cut', 'SIGINT', 'SIGTERM'] as const

/** What a job leaves, and costs, when nothing disturbs it. */
export type Calm = { bytes: Record<string, string>; files: string[]; requests: number; steps: string[] }

export type CrashReport = { kills: number; starts: number; extraRequests: number; allowedRequests: number }

const service = createDataService()
/** The same chain as it was, by its last block then. */
const youngServices = new Map<number, DataService>()
const calms = new Map<string, Promise<Calm>>()

/** The undisturbed run of a job, once for all. */
export function calmRunOf(job: CrashJob): Promise<Calm> {
  const known = calms.get(job.what) ?? measureCalm(job)
  calms.set(job.what, known)
  return known
}

/** A job's folder, and the service that it asks. */
type Scene = {
  folder: string
  jobFile: string
  output: string
  url: string
  asked: Loopback['asked']
  options: readonly string[]
  /** The manifest of an export that is to be replaced by --fresh. */
  replaced: string | undefined
}

async function measureCalm(job: CrashJob): Promise<Calm> {
  const scene = await prepare(job)
  const trace = join(scene.folder, 'trace')
  const { exit, stderr } = await start(scene, { how: 'count', trace }).ended
  expect([exit, stderr]).toEqual([job.exit, expect.any(String)])
  const { output, asked } = scene
  const steps = readFileSync(trace, 'utf8').trimEnd().split('\n')
  return { bytes: outputBytes(output), files: filesIn(output), requests: asked.length, steps }
}

/** A place to kill a run at that dice choose, anywhere in it. */
export function randomCut({ steps, requests }: Calm, dice: Dice): Cut {
  const how = dice.pick([...STEP_CUTS, 'request', 'request'] as const)
  return { how, at: dice.between(1, how === 'request' ? requests : steps.length) }
}

/** The steps at which bytes or names are made to last, or names change. */
export function bordersOf({ steps }: Calm): number[] {
  return steps.flatMap((step, at) => (/^(\w*sync|rename|link|unlink) /.test(step) ? [at + 1] : []))
}

/**
 * Kills a job's run at each cut, starts it again, and lets the last start run to its end. Checks that no manifest on the
 * way lists what is not there, that the end is byte for byte the calm one with nothing left over, and that a kill costs
 * no more than the requests in flight and one page a reader. (A loss of power also costs what was not synced.)
 */
export async function crashRun(job: CrashJob, cuts: readonly Cut[]): Promise<CrashReport> {
  const calm = await calmRunOf(job)
  const onRequest: OnRequest = { act: () => {} }
  const scene = await prepare(job, onRequest)
  const report = { kills: 0, starts: 0, extraRequests: 0, allowedRequests: 0 }
  let requests = 0
  for (const cut of [...cuts, undefined]) {
    const finished = isFinished(job, scene.output, calm)
    const ended = await startAndCut(scene, cut, onRequest)
    report.starts += 1
    if ([null, 130, 143].includes(ended.exit)) report.kills += 1
    else expect([ended.exit, ended.stderr]).toEqual([job.exit, expect.any(String)])
    expectHonestManifest(scene.output)
    // What was finished and is asked for again without an endBlock is a new export.
    if (!finished) requests = scene.asked.length
  }
  expect(outputBytes(scene.output)).toEqual(calm.bytes)
  expect(filesIn(scene.output)).toEqual(calm.files)
  report.extraRequests = requests - calm.requests
  report.allowedRequests = report.kills * 2 * job.fields.concurrency
  if (cuts.every(({ how }) => how !== 'power-cut'))
    expect(report.extraRequests).toBeLessThanOrEqual(report.allowedRequests)
  return report
}

/**
 * Lets the disk of a job's run fail, then starts it again on a good one. Checks that the failure is the output's or
 * none, says so with a fix, leaves no manifest of what is not there, and that the end is the calm one.
 */
export async function brokenDiskRun(job: CrashJob, plan: DiskPlan): Promise<Ended> {
  const calm = await calmRunOf(job)
  const scene = await prepare(job)
  const broken = await start(scene, plan).ended
  if (broken.exit !== job.exit) {
    expect([broken.exit, broken.stderr]).toEqual([7, expect.stringMatching(/^OUTPUT_FAILED: .+\nfix: .+\n/)])
  }
  expectHonestManifest(scene.output)
  const good = await start(scene).ended
  expect([good.exit, good.stderr]).toEqual([job.exit, expect.any(String)])
  expect(outputBytes(scene.output)).toEqual(calm.bytes)
  expect(filesIn(scene.output)).toEqual(calm.files)
  return broken
}

/** Sends a signal at a step of a job's run, then starts it again. The first ends by the signal, or was done before. */
export async function signalledRun(job: CrashJob, plan: DiskPlan): Promise<Ended> {
  const calm = await calmRunOf(job)
  const scene = await prepare(job)
  const signalled = await start(scene, plan).ended
  const { exit, stderr } = signalled
  expect([[130, 143, job.exit].includes(exit ?? -1), stderr]).toEqual([true, stderr])
  expectHonestManifest(scene.output)
  const last = await start(scene).ended
  expect([last.exit, last.stderr]).toEqual([job.exit, expect.any(String)])
  expect(outputBytes(scene.output)).toEqual(calm.bytes)
  expect(filesIn(scene.output)).toEqual(calm.files)
  return signalled
}

/** True where an export is complete, though its process may have died since. */
function isFinished({ fields }: CrashJob, output: string, { bytes }: Calm): boolean {
  if ('endBlock' in fields && fields.endBlock === undefined)
    return hashFile(join(output, 'manifest.json')) === bytes['manifest.json']
  return existsSync(join(output, 'manifest.json')) && !existsSync(join(output, '.walletlake', 'pages.log'))
}

function hashFile(path: string): string | undefined {
  return existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : undefined
}

type OnRequest = { act: () => void }

/** Writes the job, starts its service, and lets an earlier export stand where the job asks for one. */
async function prepare(job: CrashJob, onRequest?: OnRequest): Promise<Scene> {
  const folder = tempFolder()
  const output = join(folder, 'out')
  const fault: Fault = (asked) => {
    onRequest?.act()
    return job.fault?.(asked)
  }
  let now: DataService = youngService(job.earlier?.head)
  const { url, asked } = await startLoopback({ answer: (request) => now.answer(request) }, fault)
  const jobFile = join(folder, 'job.json')
  const options = job.options ?? []
  const scene: Scene = { folder, jobFile, output, url, asked, options, replaced: undefined }
  mkdirSync(join(folder, 'scratch'))
  if (job.earlier !== undefined) {
    writeFileSync(jobFile, JSON.stringify({ ...job.fields, output, ...job.earlier.fields }))
    expect(await start(scene).ended).toMatchObject({ exit: job.exit })
    if (job.earlier.forgotten === true) rmSync(join(output, '.walletlake'), { recursive: true })
    if (job.earlier.isAnother === true) scene.replaced = hashFile(join(output, 'manifest.json'))
    asked.length = 0
    now = service
  }
  writeFileSync(jobFile, JSON.stringify({ ...job.fields, output }))
  return scene
}

function youngService(head: number | undefined): DataService {
  if (head === undefined) return service
  const young = youngServices.get(head) ?? createDataService({ head })
  youngServices.set(head, young)
  return young
}

/** A run that is to replace another export is begun with --fresh, and goes on without it. */
function freshOption({ output, replaced }: Scene): string[] {
  if (replaced === undefined || hashFile(join(output, 'manifest.json')) !== replaced) return []
  const log = join(output, '.walletlake', 'pages.log')
  return existsSync(log) && readFileSync(log, 'latin1').includes('"fresh":true') ? [] : ['--fresh']
}

function start(scene: Scene, plan?: DiskPlan) {
  const { jobFile, url, options } = scene
  const env = plan === undefined ? {} : breakingDisk(plan)
  return startCommand(['run', jobFile, '--base-url', url, '--quiet', ...options, ...freshOption(scene)], env)
}

/** One start that the cut may end: `exit` is null where it did. */
async function startAndCut(scene: Scene, cut: Cut | undefined, onRequest: OnRequest): Promise<Ended> {
  if (cut === undefined) return start(scene).ended
  const { how, at } = cut
  if (how === 'request' || how === 'ms') {
    const child = start(scene)
    const kill = () => void child.kill('SIGKILL')
    const last = scene.asked.length + at
    if (how === 'request') onRequest.act = () => scene.asked.length === last && kill()
    const timer = how === 'ms' ? setTimeout(kill, at) : undefined
    const ended = await child.ended
    clearTimeout(timer)
    onRequest.act = () => {}
    return ended
  }
  if (how !== 'power-cut') return start(scene, { how, at }).ended
  return start(scene, { how, at, scratch: join(scene.folder, 'scratch') }).ended
}

/** Whatever a manifest lists is there, to the byte. */
export function expectHonestManifest(output: string): void {
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
