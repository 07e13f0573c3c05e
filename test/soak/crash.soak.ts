import { availableParallelism } from 'node:os'
import pLimit from 'p-limit'
import { afterAll, expect, test } from 'vitest'
import { CRASH_JOBS, type CrashJob } from '../helpers/crash-jobs.ts'
import {
  baselineOf,
  crashRun,
  durableStepsOf,
  type Interruption,
  randomInterruption,
} from '../helpers/crash-run.ts'
import { createSeededRandom } from '../helpers/seeded-random.ts'

const target = Number(process.env.SOAK_KILLS ?? 1_000)
const seed = Number(process.env.SOAK_SEED ?? 1)
/** Sequences of kills per test. A test closes its servers and removes its folders. */
const CHAINS_PER_TEST = 16
/** Approximate maximum duration of a run, in milliseconds. */
const MAX_RUN_MS = 900
const DAY_MS = 86_400_000

type CrashCounts = { kills: number; starts: number; extraRequests: number; most: string }
const countsByJob = new Map<string, CrashCounts>()

const killsSoFar = () => [...countsByJob.values()].reduce((sum, { kills }) => sum + kills, 0)

async function crashAll(chains: readonly { job: CrashJob; cuts: readonly Interruption[] }[]): Promise<void> {
  const together = pLimit(availableParallelism())
  await Promise.all(
    chains.map(({ job, cuts: interruptions }) =>
      together(async () => {
        if (killsSoFar() < target) addCounts(job.what, await crashRun(job, interruptions), interruptions)
      }),
    ),
  )
}

function addCounts(
  jobName: string,
  report: Awaited<ReturnType<typeof crashRun>>,
  interruptions: readonly Interruption[],
): void {
  const { kills, starts, extraRequests, most } = countsByJob.get(jobName) ?? {
    kills: 0,
    starts: 0,
    extraRequests: 0,
    most: '',
  }
  const lostPower = interruptions.some(({ how }) => how === 'power-cut')
  const extra = lostPower ? 0 : report.extraRequests
  const share = `${extra} of ${report.allowedRequests}`
  countsByJob.set(jobName, {
    kills: kills + report.kills,
    starts: starts + report.starts,
    extraRequests: extraRequests + extra,
    most: extra > Number.parseInt(most || '0', 10) ? share : most,
  })
  reportProgress()
}

let reportedHundreds = 0

/** Prints progress every hundred kills. */
function reportProgress(): void {
  const hundreds = Math.floor(killsSoFar() / 100)
  if (hundreds > reportedHundreds) console.log(`${killsSoFar()} kills`)
  reportedHundreds = Math.max(reportedHundreds, hundreds)
}

test.for(CRASH_JOBS)('a kill at every durable step of $what', { timeout: DAY_MS }, async (job) => {
  const borders = durableStepsOf(await baselineOf(job))
  await crashAll(borders.map((at) => ({ job, cuts: [{ how: 'kill', at }] })))
})

test.for(Array.from({ length: Math.ceil(target / CHAINS_PER_TEST) }, (_, round) => round))(
  'random kills, round %i',
  { timeout: DAY_MS },
  async (round) => {
    const random = createSeededRandom(seed * 1_000_003 + round)
    const chains = await Promise.all(
      Array.from({ length: CHAINS_PER_TEST }, async () => {
        const job = random.pick(CRASH_JOBS)
        const baseline = await baselineOf(job)
        const cut = () =>
          random.next() < 0.2
            ? { how: 'ms' as const, at: random.between(1, MAX_RUN_MS) }
            : randomInterruption(baseline, random)
        return { job, cuts: Array.from({ length: random.between(1, 5) }, cut) }
      }),
    )
    await crashAll(killsSoFar() < target ? chains : [])
  },
)

afterAll(() => {
  console.table(Object.fromEntries(countsByJob))
  const sum = (count: (counts: CrashCounts) => number) =>
    [...countsByJob.values()].reduce((all, counts) => all + count(counts), 0)
  const [kills, starts] = [sum((counts) => counts.kills), sum((counts) => counts.starts)]
  const extra = sum(({ extraRequests }) => extraRequests)
  console.log(
    `${kills} kills, ${starts} starts, ${extra} extra requests (${(extra / kills).toFixed(2)} a kill)`,
  )
  expect(kills).toBeGreaterThanOrEqual(target)
})
