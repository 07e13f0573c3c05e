import type { Movement } from './movement.ts'

/** Movements of one transaction after another. */
export type Transactions = AsyncGenerator<Movement[], void, void>

/** The transactions of one export. */
export type ChainTransactions = { chain: string; transactions: Transactions }

/**
 * Merges the transactions of several exports by time, then by chain. Each chain keeps its order. A transaction that several
 * exports of a chain contain is yielded once, with the movements of all of them, sorted by wallet.
 */
export function mergeTransactions(exports: readonly ChainTransactions[]): Transactions {
  const [only, ...others] = exports
  if (only !== undefined && others.length === 0) return only.transactions
  const chains = new Map<string, Transactions[]>()
  for (const { chain, transactions } of exports)
    chains.set(chain, [...(chains.get(chain) ?? []), transactions])
  const ofChains = [...chains.values()].map((streams) =>
    streams.length === 1 ? streams : [uniteTransactions(mergeStreams(streams, comparePositions))],
  )
  return mergeStreams(ofChains.flat(), compareTimes)
}

type Compare = (a: Movement, b: Movement) => number

const compareTexts = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** Compares non-negative integers. Other texts have a fixed order too. */
const compareIntegers = (a: string, b: string) => a.length - b.length || compareTexts(a, b)

const compareTimes: Compare = (a, b) => compareTexts(a.time, b.time) || compareIntegers(a.chain, b.chain)

/** The order of the ledger. */
const comparePositions: Compare = (a, b) =>
  compareIntegers(a.block, b.block) ||
  compareIntegers(a.index, b.index) ||
  compareTexts(a.transaction, b.transaction)

type Head = { first: Movement; movements: Movement[]; stream: Transactions }

/** Merges sorted streams, one per export, so few. Of equal transactions, that of the earlier stream comes first. */
async function* mergeStreams(streams: readonly Transactions[], compare: Compare): Transactions {
  const heads: (Head | undefined)[] = []
  try {
    for (const stream of streams) heads.push(await nextHead(stream))
    for (;;) {
      const [head] = heads.filter((one) => one !== undefined).sort((a, b) => compare(a.first, b.first))
      if (head === undefined) return
      yield head.movements
      heads[heads.indexOf(head)] = await nextHead(head.stream)
    }
  } finally {
    for (const stream of streams) await stream.return()
  }
}

async function nextHead(stream: Transactions): Promise<Head | undefined> {
  const { value: movements = [] } = await stream.next()
  const [first] = movements
  return first && { first, movements, stream }
}

/** Joins consecutive parts of the same transaction. */
async function* uniteTransactions(parts: Transactions): Transactions {
  let united: Movement[] = []
  for await (const movements of parts) {
    if (united.length > 0 && united[0]?.transaction !== movements[0]?.transaction) {
      yield united
      united = []
    }
    united = [...united, ...movements].sort((a, b) => compareTexts(a.wallet, b.wallet))
  }
  if (united.length > 0) yield united
}
