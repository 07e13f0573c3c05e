import { assetBalanceKey } from '../../core/model/asset.ts'
import { chainIdOf } from '../../core/model/chains.ts'
import type { Manifest } from '../../core/model/manifest.ts'
import { labelsOf } from '../../core/model/wallet-sample.ts'
import { readAssetLines } from '../../ledger/balances/declared-amounts.ts'
import type { ComparedBalance } from './compare-wallet.ts'

/** The parts of a manifest that the lines refer to. */
type ExportedWallets = { job: Pick<Manifest['job'], 'chain'>; coverage: Manifest['coverage'] }

/** Returns the line of the user's file that accepts a difference; undefined if there is none. */
export type Accepted = (balance: ComparedBalance) => number | undefined

/**
 * Reads a file of accepted differences, which has the columns of the CSV that `reconcile` prints. The difference of a token
 * may change, because the tokens that need to be accepted change balances at any time; that of the native coin has to be the
 * one in the file, unless its cell is empty. Lines of wallets of other exports have no effect.
 *
 * @throws ExportError USAGE with the line number if a line is invalid
 */
export async function readAccepted(
  file: string | undefined,
  { job, coverage }: ExportedWallets,
): Promise<Accepted> {
  if (file === undefined) return () => undefined
  const labels = [...labelsOf(coverage)]
  const lines = new Map<string, { line: number; difference: string }>()
  const context = {
    labels: labels.map(([, label]) => label),
    walletsLabelled: (name: string) =>
      labels.flatMap(([address, label]) => (label === name ? [address] : [])),
    wallets: undefined,
    chain: { id: chainIdOf(job.chain), isRequired: false },
  }
  await readAssetLines(file, context, ({ line, wallet, asset, cells: { difference = '' }, expect }) => {
    const isValid = /^(-?\d{1,100})?$/.test(difference)
    expect('difference', isValid, 'a whole number in the smallest unit, or nothing')
    lines.set(assetBalanceKey(wallet, asset), { line, difference })
  })
  return (balance) => {
    const accepted = lines.get(assetBalanceKey(balance.wallet, balance))
    if (accepted === undefined) return undefined
    const isAnyAccepted = balance.type !== 'native' || accepted.difference === ''
    return isAnyAccepted || BigInt(accepted.difference) === balance.service - balance.ledger
      ? accepted.line
      : undefined
  }
}
