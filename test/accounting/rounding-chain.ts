import type { JsonObject } from '../../src/demo-server/json.ts'
import { ANN, address, BEN, createChain } from './made-up-transactions.ts'

const FRIEND = address('3')
const tokenOf = (symbol: string, digits: string) => ({
  address: `0x${digits.repeat(20)}`,
  name: symbol,
  symbol,
  decimals: 18,
})

export const DAI = tokenOf('DAI', '6b')
/** A token of which wallets hold millions, so that a floating-point number has fewer than 11 decimals of an amount. */
export const PEPE = tokenOf('PEPE', '6c')

const { transaction, erc20 } = createChain()
const moves = (at: string, token: typeof DAI, parties: readonly [string, string], value: bigint) =>
  transaction({ at, parties: [FRIEND, FRIEND] }, { erc20: [erc20(token, parties, value)] })

const PART = 1_000_000_000_006_000_000n
const MILLIONS = 123_456_789_123_456_789_012_345_678n

/** Amounts with more than 11 decimals, of which one half goes through another wallet, and their sums in the next year. */
export const ROUNDING_CHAIN: readonly JsonObject[] = [
  moves('2023-12-30T00:00:00Z', DAI, [FRIEND, ANN], PART),
  moves('2023-12-30T00:00:01Z', DAI, [FRIEND, BEN], PART),
  moves('2023-12-31T00:00:00Z', DAI, [BEN, ANN], PART),
  moves('2023-12-31T00:00:01Z', PEPE, [FRIEND, ANN], MILLIONS),
  moves('2023-12-31T00:00:02Z', PEPE, [FRIEND, ANN], MILLIONS / 7n),
  moves('2024-01-01T00:00:00Z', DAI, [ANN, FRIEND], 2n * PART),
  moves('2024-01-01T00:00:01Z', PEPE, [ANN, FRIEND], MILLIONS / 3n),
  moves('2024-01-01T00:00:02Z', PEPE, [ANN, FRIEND], MILLIONS + MILLIONS / 7n - MILLIONS / 3n),
]
