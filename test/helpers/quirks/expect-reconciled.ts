import { expect } from 'vitest'
import type { Job } from '../../../src/core/model/model.ts'
import { type ReconcileResult, reconcileOutput } from '../../../src/verify/reconcile/reconcile.ts'
import type { TextRow } from '../read-output.ts'
import { readManifest } from '../read-output.ts'
import { type Gap, ledgerOf, transactionsOf } from './compare-exports.ts'

/** The native coin and the NFTs of all wallets agree. The chain has tokens that change balances without events. */
export async function expectNoGap(job: Job): Promise<void> {
  const { rows, wallets } = await reconcile(job)
  expect(rows.filter(({ asset_type }) => asset_type !== 'erc20')).toEqual([])
  expect(wallets.compared).toBe(wallets.selected)
}

/**
 * The wallets that sent transactions with another price than the listed one are named, each with the first of
 * these, and no others.
 */
export async function expectOverstatedFees(job: Job, plain: Job): Promise<void> {
  const result = await reconcile(job)
  const own = new Set(job.wallets.map(({ address }) => address))
  const first = new Map<string, string>()
  for (const row of await transactionsOf(plain)) {
    const { from_address: sender = '', transaction_hash: hash = '' } = row
    if (own.has(sender) && showsFeeCap(row) && !first.has(sender)) first.set(sender, hash)
  }
  const located = [...result.located].map(([wallet, { transaction }]) => [wallet, transaction])
  expect(Object.fromEntries(located)).toEqual(Object.fromEntries(first))
  const rows = nativeRows(result)
  expect(rows.map(({ wallet_address }) => wallet_address).sort()).toEqual([...first.keys()].sort())
  for (const { likely_cause } of rows) {
    expect(likely_cause).toMatch(/^the listed gas price is the fee cap, so the fee is \d+ too high: run/)
    expect(likely_cause).toContain('--fees exact')
  }
}

/** The option or job field that a likely cause names for each gap. */
const CLOSED_BY: Record<Gap, string> = {
  fees: '--fees exact',
  internals: 'internals: full',
  atomic: '--atomic',
}

/** The wallets whose coins differ from those of the complete export are named, each with an option that closes a gap. */
export async function expectGapsNamed(job: Job, plain: Job, gaps: readonly Gap[]): Promise<void> {
  if (readManifest(job.output).coverage.every(({ fromBlock, toBlock }) => fromBlock >= toBlock))
    return expect(reconcile(job)).rejects.toMatchObject({ fix: expect.stringContaining(CLOSED_BY.internals) })
  const rows = nativeRows(await reconcile(job))
  const [own, complete] = await Promise.all([job, plain].map(coinsByWallet))
  const differing = job.wallets
    .map(({ address }) => address)
    .filter((one) => own?.get(one) !== complete?.get(one))
  expect(rows.map(({ wallet_address }) => wallet_address).sort()).toEqual(differing.sort())
  for (const { wallet_address, likely_cause } of rows) {
    const named = gaps.filter((gap) => likely_cause?.includes(CLOSED_BY[gap]))
    expect([wallet_address, likely_cause, named.length > 0]).toEqual([wallet_address, likely_cause, true])
  }
}

async function coinsByWallet(job: Job): Promise<Map<string, bigint>> {
  const sums = new Map<string, bigint>()
  for (const { wallet_address: wallet = '', asset_type: type, value = '0' } of await ledgerOf(job))
    if (type === 'native') sums.set(wallet, (sums.get(wallet) ?? 0n) + BigInt(value))
  return sums
}

/** Whether the embedded server shows a fee cap that is not the price. It derives both from the hash. */
const showsFeeCap = ({ transaction_type: type, transaction_hash: hash = '' }: TextRow) =>
  type === '2' && !/[0-3]$/.test(hash)

function reconcile({ output, service: { baseUrl = '' } }: Job): Promise<ReconcileResult> {
  return reconcileOutput(output, { service: { baseUrl, retry: { retries: 1, firstDelayMs: 1 } } })
}

const nativeRows = ({ rows }: ReconcileResult) => rows.filter(({ asset_type }) => asset_type === 'native')
