import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Book } from '../../../src/client/gate/quota-book.ts'
import { SHARED_SERVERS, type TestServer } from '../../helpers/shared-servers.ts'
import { fixedWindow, type QuotaService, tokenBucket } from './quota-service.ts'
import { virtualClock } from './virtual-clock.ts'

type Case = {
  what: string
  service: () => QuotaService
  /** Whether refusals say how long to wait. */
  isTold?: boolean
  /** How often others take what there is. */
  othersTake?: number
}

const CASES: Case[] = [
  { what: 'a steady rate', service: () => tokenBucket({ perSecond: 50, burst: 5 }), isTold: true },
  { what: 'a rate that is never told', service: () => tokenBucket({ perSecond: 30, burst: 3 }) },
  { what: 'a large store', service: () => tokenBucket({ perSecond: 20, burst: 300 }), isTold: true },
  { what: 'a window', service: () => fixedWindow({ limit: 100, windowMs: 5_000 }), isTold: true },
  {
    what: 'more than is kept of a stretch',
    service: () => tokenBucket({ perSecond: 400, burst: 1_500 }),
    ...{ isTold: true, othersTake: 0.0005 },
  },
]

const isMissing = SHARED_SERVERS.some((one) => one.isMissing)

describe.skipIf(isMissing)('the books on all kinds of server', () => {
  let servers: TestServer[]
  beforeAll(async () => {
    servers = await Promise.all(SHARED_SERVERS.map(({ start }) => start()))
  })
  afterAll(async () => {
    await Promise.all(servers.map(({ stop }) => stop()))
  })

  test.for(CASES)('give the same slots for the same calls: $what', async (one) => {
    let now = BEGIN
    const game = servers.map(({ book }) => book(one.what, () => now))
    const passTo = (time: number) => {
      now = time
    }
    expect(await play(one, { books: game, passTo })).toBeGreaterThan(300)
  })
})

type Call = Parameters<Book>

/** Asks all books, each with its own numbers; all must say the same, to a ten thousandth. */
async function askAll(books: readonly Book[], callOf: (book: number) => Call): Promise<number[][]> {
  const asked = books.map(async (book, at) => (await book(...callOf(at))).map(Number))
  const answers = await Promise.all(asked)
  const [first = []] = answers
  for (const answer of answers) expect(answer).toEqual(first.map((number) => expect.closeTo(number, 4)))
  return answers
}

type Game = { books: readonly Book[]; passTo(time: number): void }

/** As of a server's clock: its milliseconds have as many digits as numbers hold, and text gives all of them. */
const BEGIN = 1_800_000_000_000
/** Slots that are asked for at once, at most. */
const MOST = 20
/** As often is a rate learnt. */
const STRETCHES = 6

type Refusal = { due: number; callOf: (book: number) => Call }

/** Asks for slots, meets the service by each, and tells of refusals once their answers are there; gives how many it was given. */
async function play(
  { service: open, isTold, othersTake = 0.01 }: Case,
  { books, passTo }: Game,
): Promise<number> {
  const { dice } = virtualClock()
  const service = open()
  let refusals: Refusal[] = []
  let [now, last, given] = [BEGIN, 0, 0]
  while (last < STRETCHES) {
    passTo(now)
    const most = 1 + Math.floor(MOST * dice())
    const answers = await askAll(books, () => ['take', most])
    const [[, againMs = 0, stretch = 0, ...slots] = []] = answers
    last = stretch
    given += slots.length / 3
    for (let place = 3; place < 3 + slots.length; place += 3) {
      const [nth, at] = [
        (book: number) => answers[book]?.[place + 1] ?? 0,
        (book: number) => answers[book]?.[place + 2] ?? 0,
      ]
      const { granted, waitMs } = service.ask(at(0))
      if (granted && dice() >= othersTake) continue
      const wait = isTold ? Math.ceil(waitMs) : -1
      refusals.push({
        due: at(0) + 60 + 60 * dice(),
        callOf: (book) => ['hold', stretch, nth(book), at(book), wait],
      })
    }
    const isLull = dice() < 0.02
    now += Math.max(1, againMs) + (isLull ? 700 : 8) * dice()
    refusals.sort((a, b) => a.due - b.due)
    for (const { due, callOf } of refusals.filter((one) => one.due <= now)) {
      passTo(due)
      await askAll(books, callOf)
      await askAll(books, () => ['look'])
    }
    refusals = refusals.filter(({ due }) => due > now)
  }
  return given
}
