import { assetBalanceKey } from '../../core/model/asset.ts'
import { type Coverage, type Manifest, rowsEndOf } from '../../core/model/manifest.ts'
import { sha256 } from '../../core/platform/sha256.ts'
import {
  type BalanceSum,
  BalanceSums,
  compareSums,
  SUMMED_COLUMNS,
} from '../../ledger/balances/balance-sums.ts'
import type { WalletAmount } from '../../ledger/balances/declared-amounts.ts'
import { type Dataset, uncoveredWalletError } from '../../read/dataset.ts'

/** A wallet to compare: the blocks that were read, and the sums of its opening balances and ledger rows. */
export type LedgerWallet = {
  address: string
  label: string | null
  fromBlock: number
  /** Exclusive. */
  toBlock: number
  /** Number of its transactions in the export. */
  transactions: number
  /** The native coins before its first row, if opening balances are given: the sums contain them. */
  opening: bigint | undefined
  /** Sorted by asset type, contract and token id; the native coin is always present. */
  sums: readonly BalanceSum[]
}

export type LedgerSums = {
  /** Sorted by address. */
  wallets: readonly LedgerWallet[]
  isWrapper: (contract: string | null) => boolean
}

/** Opening balances that are given instead of asked for, and the wallets whose opening balances they are. */
export type GivenOpening = { amounts: readonly WalletAmount[]; wallets: ReadonlySet<string> }
/** The wallets of which an export may have rows, each up to the last block that it may have rows of. */
export function readableCoverage(manifest: Manifest): Coverage[] {
  const wallets = manifest.coverage.map((wallet) => ({ ...wallet, toBlock: rowsEndOf(wallet, manifest) }))
  return wallets.filter(({ fromBlock, toBlock }) => fromBlock < toBlock)
}

/** Sums the opening balances, if they are given, and the ledger rows of these wallets. Memory grows with the number of balances. */
export async function readLedgerSums(
  { manifest, stream }: Dataset,
  wallets: readonly Coverage[],
  { amounts, wallets: given }: GivenOpening = { amounts: [], wallets: new Set() },
): Promise<LedgerSums> {
  const covered = new Set(manifest.coverage.map(({ address }) => address))
  const selected = new Set(wallets.map(({ address }) => address))
  const sums = new BalanceSums()
  for (const { address } of wallets) sums.open(address, { type: 'native', address: null, tokenId: null }, 0n)
  for (const { wallet, asset, value } of amounts) if (selected.has(wallet)) sums.open(wallet, asset, value)
  for await (const rows of stream('ledger', SUMMED_COLUMNS)) {
    for (const row of rows) {
      if (!covered.has(row.wallet_address)) throw uncoveredWalletError(row.wallet_address)
      if (selected.has(row.wallet_address)) sums.add(row)
    }
  }
  const byWallet = new Map<string, BalanceSum[]>(wallets.map(({ address }) => [address, []]))
  for (const sum of sums.finish().sort(compareSums)) byWallet.get(sum.wallet)?.push(sum)
  return {
    wallets: [...wallets]
      .sort((a, b) => (a.address < b.address ? -1 : 1))
      .map(({ address, label = null, fromBlock, toBlock, transactions }) => ({
        address,
        label,
        fromBlock,
        toBlock,
        transactions,
        opening: given.has(address) ? coinsOf(address, amounts) : undefined,
        sums: byWallet.get(address) ?? [],
      })),
    isWrapper: (contract) => sums.isWrapper(contract),
  }
}

/** A hash of everything of a wallet that is compared with the service. */
export function hashSums({ fromBlock, transactions, sums }: LedgerWallet): string {
  const assets = sums.map(({ value, ...asset }) => `${assetBalanceKey('', asset)}=${value}`)
  return sha256([fromBlock, transactions, ...assets].join('\n')).slice(0, 32)
}

const coinsOf = (address: string, amounts: readonly WalletAmount[]): bigint =>
  amounts.find(({ wallet, asset }) => wallet === address && asset.type === 'native')?.value ?? 0n
