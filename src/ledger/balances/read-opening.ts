import { assetBalanceKey } from '../../core/model/asset.ts'
import type { OpenExport } from '../../read/open-export.ts'
import { type DeclaredAmounts, readDeclaredAmounts } from './declared-amounts.ts'
import { readDecimals } from './read-decimals.ts'

type OpeningContext = {
  opened: OpenExport
  labels: ReadonlyMap<string, string | null>
  /** The wallets of the export, with those that the job no longer contains. */
  wallets: ReadonlySet<string>
}

/** Reads a file of opening balances. Throws USAGE if it is invalid or names a wallet that the export does not have. */
export async function readOpening(
  file: string | undefined,
  { opened, labels, wallets }: OpeningContext,
): Promise<DeclaredAmounts> {
  if (file === undefined) return { amounts: [], unfilled: 0 }
  const decimals = await readDecimals(opened)
  return readDeclaredAmounts(file, {
    labels: [...labels.values()].flatMap((label) => label ?? []),
    walletsLabelled: (label) => [...labels].flatMap(([address, one]) => (one === label ? [address] : [])),
    wallets: { addresses: wallets, expected: 'the address of a wallet of the export' },
    decimalsOf: (asset) => decimals.get(assetBalanceKey('', asset)) ?? null,
  })
}
