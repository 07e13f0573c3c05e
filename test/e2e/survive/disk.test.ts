import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand, type StartOptions, startCommand } from '../../helpers/command.ts'
import { CRASH_JOBS, type CrashJob } from '../../helpers/crash-jobs.ts'
import { baselineOf, expectConsistentManifest, faultyDiskRun } from '../../helpers/crash-run.ts'
import { faultyDiskEnv } from '../../helpers/faulty-disk.ts'
import { service } from '../../helpers/faulty-run.ts'
import { writeJobFile } from '../../helpers/jobs.ts'
import { startLoopback } from '../../helpers/loopback.ts'
import { demoWallets, smallWallets } from '../../helpers/node-data.ts'
import { outputBytes } from '../../helpers/output-bytes.ts'
import { createSeededRandom } from '../../helpers/seeded-random.ts'
import { baselineBytes, seededRun } from '../../helpers/seeded-run.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'
import { testSample } from '../../helpers/test-sample.ts'

const [first] = CRASH_JOBS
const small: CrashJob = {
  what: 'a small job with everything',
  fields: { ...first?.fields, addresses: smallWallets, concurrency: 1, keepRaw: true },
  exit: 0,
}

/** Number of steps that are tested here; the soak test covers all. */
const TRIES = 2

testSample(
  0,
  ['ENOSPC', 'EIO', 'EROFS'] as const,
  '%s at any step fails with OUTPUT_FAILED, and the run can be resumed',
  async (how) => {
    const { steps } = await baselineOf(small)
    const random = createSeededRandom(how.length)
    const places = Array.from({ length: TRIES }, () => random.between(1, steps.length))
    const ended = await Promise.all(places.map((at) => faultyDiskRun(small, { how, at })))
    expect(ended.map(({ exit }) => exit)).toContain(7)
  },
)

/** Entries in the way of an output, with their kinds. */
const OBSTACLES = [
  { path: '.walletlake/lock', kind: 'folder' },
  { path: '.walletlake/parts', kind: 'file' },
  { path: 'ledger/ledger-000000000000-000000000421-0000.csv', kind: 'folder' },
  { path: 'manifest.json', kind: 'folder' },
  { path: '.', kind: 'file' },
  { path: '.walletlake', kind: 'file' },
  { path: '.walletlake/pages.log', kind: 'folder' },
  { path: 'ledger', kind: 'file' },
  { path: 'rejects.ndjson', kind: 'folder' },
] as const

testSample(
  4,
  OBSTACLES,
  'a $kind in place of $path fails with OUTPUT_FAILED or is removed',
  async ({ path, kind }) => {
    const output = join(tempFolder(), 'out')
    const obstacle = join(output, path)
    mkdirSync(kind === 'folder' ? join(obstacle, 'inside') : dirname(obstacle), { recursive: true })
    if (kind === 'file') writeFileSync(obstacle, 'in the way')
    const { code, message } = await seededRun({ output })
    if (path !== '.walletlake/parts') {
      expect([code, message]).toEqual(['OUTPUT_FAILED', expect.stringContaining(output)])
      rmSync(obstacle, { recursive: true })
      expect((await seededRun({ output })).code).toBeUndefined()
    }
    expect(outputBytes(output)).toEqual(await baselineBytes())
  },
)

test.for([
  { disk: 'SMB', plan: { how: 'EOPNOTSUPP', only: 'link' } },
  { disk: 'CIFS', plan: { how: 'EINVAL', only: 'folder sync' } },
  { disk: 'exFAT', plan: { how: 'EPERM', only: 'link' } },
  { disk: 'FUSE', plan: { how: 'ENOSYS', only: 'link' } },
  { disk: 'another FUSE', plan: { how: 'ENOTSUP', only: 'folder sync' } },
] as const)(
  'a disk like $disk, without $plan.only, supports exports',
  { tags: ['long'] },
  async ({ plan }) => {
    const { url } = await startLoopback(service)
    const folder = tempFolder()
    const output = join(folder, 'out')
    const calm = join(folder, 'calm')
    const argsOf = (to: string) => {
      const job = jobOf(to, 'csv', smallWallets.slice(0, 3))
      return ['run', job, '--base-url', url, '--quiet']
    }
    expect(await runCommand(argsOf(calm))).toMatchObject({ exit: 0 })
    const runs = [1, 2].map(() => startCommand(argsOf(output), faultyDiskEnv(plan)))
    const exits = (await Promise.all(runs.map(({ ended }) => ended))).map(({ exit }) => exit)
    expect([
      [0, 0],
      [0, 8],
      [8, 0],
    ]).toContainEqual(exits)
    const { ended } = startCommand(argsOf(output), faultyDiskEnv(plan))
    expect(await ended).toMatchObject({ exit: 0, stderr: '' })
    expect(outputBytes(output)).toEqual(outputBytes(calm))
  },
)

/** Writes a file with a small job. */
function jobOf(output: string, format = 'csv', addresses = demoWallets.slice(0, 3)): string {
  return writeJobFile('job', { endBlock: 421, addresses, output, format }).job
}

type Export = { url: string; output: string; format: string }

/** Runs a small job: in this process, or in one that a shell prepares. */
const runJob = ({ url, output, format }: Export, options?: StartOptions) =>
  runCommand(['run', jobOf(output, format), '--base-url', url, '--quiet'], {}, options)

/** Runs the job again, on a disk that works now, and asserts that the files equal those of an undisturbed run. */
async function expectResumed(disturbed: Export) {
  const calm = join(tempFolder(), 'out')
  for (const output of [disturbed.output, calm])
    expect(await runJob({ ...disturbed, output })).toMatchObject({ exit: 0 })
  expect(outputBytes(disturbed.output)).toEqual(outputBytes(calm))
}

testSample(0, ['csv', 'parquet'], 'a file size limit ends a %s export with OUTPUT_FAILED', async (format) => {
  const { url } = await startLoopback(service)
  const limited = { url, output: join(tempFolder(), 'out'), format }
  const { exit, stderr } = await runJob(limited, { shell: 'ulimit -f 1000' })
  expect([exit, stderr]).toEqual([7, expect.stringMatching(/^OUTPUT_FAILED: /)])
  expectConsistentManifest(limited.output)
  await expectResumed(limited)
})

/** Mounts a file system with a size in kilobytes, or resizes it. Returns false if that is not permitted. */
function mountSmall(folder: string, size: string, again = ''): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `${again}size=${size}`, 'tmpfs', folder]).status === 0
}

testSample(
  1,
  ['csv', 'parquet'],
  'a full disk ends a %s export with OUTPUT_FAILED, and more space lets it resume',
  async (format, { skip, onTestFinished }) => {
    const disk = tempFolder()
    if (!mountSmall(disk, '64k')) skip('mounting is not allowed here')
    onTestFinished(() => void spawnSync('umount', [disk]))
    const { url } = await startLoopback(service)
    const limited = { url, output: join(disk, 'out'), format }
    for (const size of format === 'csv' ? ['900k'] : ['64k', '900k', '2500k']) {
      mountSmall(disk, size, 'remount,')
      const { exit, stderr } = await runJob(limited)
      expect([exit, stderr]).toEqual([7, expect.stringMatching(/^OUTPUT_FAILED: .+(ENOSPC|space)/)])
      expectConsistentManifest(limited.output)
    }
    mountSmall(disk, '64m', 'remount,')
    await expectResumed(limited)
  },
)

/** The stages at which a disk may be full, by the first file that no longer fits. */
const STAGES = [
  { what: 'rows are staged', from: '/parts/.*\\.lines$', exit: 7 },
  { what: 'files get their names', from: '/out/ledger', exit: 7 },
  { what: 'the manifest is written', from: '/out/\\.walletlake-[^/]+\\.part$', exit: 7 },
  { what: 'the run report is written', from: '/out/runs', exit: 0 },
]

testSample(0, STAGES, 'a disk that fills up when $what', async ({ from, exit }) => {
  const full = await faultyDiskRun(small, { how: 'ENOSPC', from })
  expect(full.stderr).not.toMatch(/^ +at /m)
  expect(full.exit).toBe(exit)
  if (exit === 7) expect(full.stderr).toMatch(/^OUTPUT_FAILED: .*\/out.*ENOSPC.*\nfix: .*free space/m)
  else expect(full.stderr).toBe('')
})

testSample(
  0,
  ['csv', 'parquet'],
  'a disk that is full anywhere between the pages and the end of a %s export is named',
  async (format, { skip, onTestFinished }) => {
    const disk = tempFolder()
    if (!mountSmall(disk, '2m')) skip('mounting is not allowed here')
    onTestFinished(() => void spawnSync('umount', [disk]))
    const { url } = await startLoopback(service)
    const limited = { url, output: join(disk, 'out'), format }
    // Each run in a process of its own, which releases the space of files that a failed run leaves open.
    const runAlone = () => runJob(limited, { shell: 'true' })
    let full = await runAlone()
    for (let kilobytes = 4_000; full.exit !== 0 && kilobytes < 24_000; kilobytes += 2_000) {
      expect([full.exit, full.stderr]).toEqual([7, expect.stringMatching(/^OUTPUT_FAILED: .+(ENOSPC|space)/)])
      expect(full.stderr).toContain(disk)
      expect(full.stderr).toMatch(/^fix: .*free space/im)
      expect(full.stderr).not.toMatch(/^ +at /m)
      expectConsistentManifest(limited.output)
      mountSmall(disk, `${kilobytes}k`, 'remount,')
      full = await runAlone()
    }
    const calm = join(tempFolder(), 'out')
    expect(await runJob({ ...limited, output: calm })).toMatchObject({ exit: 0 })
    expect([full.exit, outputBytes(limited.output)]).toEqual([0, outputBytes(calm)])
  },
)

test.skipIf(process.getuid?.() === 0)(
  'a folder without write permission fails with OUTPUT_FAILED',
  async () => {
    const folder = tempFolder()
    spawnSync('chmod', ['500', folder])
    const output = join(folder, 'out')
    expect(await seededRun({ output })).toMatchObject({ code: 'OUTPUT_FAILED' })
    spawnSync('chmod', ['700', folder])
    expect((await seededRun({ output })).code).toBeUndefined()
  },
)
