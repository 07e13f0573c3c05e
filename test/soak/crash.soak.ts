import { availableParallelism } from 'node:os'
import pLimit from 'p-limit'
import { afterAll, expect, test } from 'vitest'
import { CRASH_JOBS, type CrashJob } from '../helpers/crash-jobs.ts'
import { bordersOf, type Cut, calmRunOf, crashRun, randomCut } from '../helpers/crash-run.ts'
import { createDice } from '../helpers/seeded-random.ts'

const target = Number(process.env.SOAK_KILLS ?? 1_000)
const seed = Number(process.env.SOAK_SEED ?? 1)
/** Chains of kills in one test, which ends their servers and folders. */
const CHAINS = 16
/** A run of these jobs takes about so long, in milliseconds. */
const LONGEST_RUN_MS = 900
const DAY_MS = 86_400_000

type Tally = { kills: number; starts: number; extraRequests: number; most: string }
const tallies = new Map<string, Tally>()

const killsSoFar = () => [...tallies.values()].reduce((sum, { kills }) => sum + kills, 0)

async function crashAll(chains: readonly { job: CrashJob; cuts: readonly Cut[] }[]): Promise<void> {
  const together = pLimit(availableParallelism())
  await Promise.all(
    chains.map(({ job, cuts }) =>
      together(async () => {
        if (killsSoFar() < target) add(job.what, await crashRun(job, cuts), cuts)
      }),
    ),
  )
}

function add(what: string, report: Awaited<ReturnType<typeof crashRun>>, cuts: readonly Cut[]): void {
  const { kills, starts, extraRequests, most } = tallies.get(what) ?? {
    ...{ kills: 0, starts: 0, extraRequests: 0 },
    most: '',
  }
  const lostPower = cuts.some(({ how }) => how === 'power-cut')
  const extra = lostPower ? 0 : report.extraRequests
  const share = `${extra} of ${report.allowedRequests}`
  tallies.set(what, {
    kills: kills + report.kills,
    starts: starts + report.starts,
    extraRequests: extraRequests + extra,
    most: extra > Number.parseInt(most || '0', 10) ? share : most,
  })
  tell()
}

let told = 0

/** A word every hundred kills. */
function tell(): void {
  const hundreds = Math.floor(killsSoFar() / 100)
  if (hundreds > told) console.log(`${killsSoFar()} kills`)
  told = Math.max(told, hundreds)
}

test.for(CRASH_JOBS)('every border of $what', { timeout: DAY_MS }, async (job) => {
  const borders = bordersOf(await calmRunOf(job))
  await crashAll(borders.map((at) => ({ job, cuts: [{ how: 'kill', at }] })))
})

test.for(Array.from({ length: Math.ceil(target / CHAINS) }, (_, round) => round))(
  'random kills, round %i',
  { timeout: DAY_MS },
  async (round) => {
    const dice = createDice(seed * 1_000_003 + round)
    const chains = await Promise.all(
      Array.from({ length: CHAINS }, async () => {
        const job = dice.pick(CRASH_JOBS)
        const calm = await calmRunOf(job)
        const cut = () =>
          dice.next() < 0.2
            ? { how: 'ms' as const, at: dice.between(1, LONGEST_RUN_MS) }
            : randomCut(calm, dice)
        return { job, cuts: Array.from({ length: dice.between(1, 5) }, cut) }
      }),
    )
    await crashAll(killsSoFar() < target ? chains : [])
  },
)

afterAll(() => {
  console.table(Object.fromEntries(tallies))
  const sum = (count: (tally: Tally) => number) =>
    [...tallies.values()].reduce((all, tally) => all + count(tally), 0)
  const [kills, starts] = [sum((tally) => tally.kills), sum((tally) => tally.starts)]
  const extra = sum(({ extraRequests }) => extraRequests)
  console.log(
    `${kills} kills, ${starts} starts, ${extra} extra requests (${(extra / kills).toFixed(2)} a kill)`,
  )
  expect(kills).toBeGreaterThanOrEqual(target)
})
