import { type Asset, assetBalanceKey } from '../../core/model/asset.ts'
import { chainIdOf } from '../../core/model/chains.ts'
import type { Coverage, Manifest } from '../../core/model/manifest.ts'
import type { Dataset } from '../../read/dataset.ts'
import { readReconciliation } from '../../read/read-reconciliation.ts'
import {
  type AmountContext,
  type DeclaredAmount,
  readDeclaredAmounts,
  type WalletAmount,
} from './declared-amounts.ts'

/**
 * Which opening balances are used, held before the first row: those of a CSV file, or none (`false`). @default those that
 * the last `reconcile` learned from the service, and the genesis records in the manifest
 */
export type OpeningOption = string | false | undefined

/** What a file of opening balances contains apart from balances of assets that have rows. */
export type OpeningFindings = {
  /** Number of lines without a value and an amount. */
  unfilled: number
  /** Number of lines of chains that are not the export's. */
  ofOtherChains: number
  /** Lines of assets of which the export has no row. They count. */
  withoutRows: readonly DeclaredAmount[]
}

export type Opening = { amounts: readonly WalletAmount[]; findings: OpeningFindings }

export const NO_FINDINGS: OpeningFindings = { unfilled: 0, ofOtherChains: 0, withoutRows: [] }

/** The findings of several exports of one file. A line of another chain in all of them is counted once. */
export function sumFindings(all: readonly OpeningFindings[]): OpeningFindings {
  const [first = NO_FINDINGS, ...others] = all
  return {
    unfilled: all.reduce((sum, { unfilled }) => sum + unfilled, 0),
    ofOtherChains: others.reduce((least, other) => Math.min(least, other.ofOtherChains), first.ofOtherChains),
    withoutRows: all.flatMap(({ withoutRows }) => withoutRows),
  }
}

export type OpeningContext = {
  opened: Dataset
  labels: ReadonlyMap<string, string | null>
  /** All exports that the file is about, this one included. @default this one */
  exports?: readonly ChainWallets[] | undefined
}

/** The chain of an export, as in its manifest, and its wallets, with those that the job no longer contains. */
export type ChainWallets = { chain: string; coverage: readonly Coverage[] }

/** Reads opening balances. Throws USAGE if the file is invalid or names a wallet that no export of the chain has. */
export async function readOpening(
  option: OpeningOption,
  { opened, labels, exports }: OpeningContext,
): Promise<Opening> {
  if (option === false) return { amounts: [], findings: NO_FINDINGS }
  if (option === undefined) return { amounts: await readKnownOpening(opened), findings: NO_FINDINGS }
  const context = await amountContextOf({ opened, labels, exports })
  const { amounts, ...counts } = await readDeclaredAmounts(option, context)
  const withoutRows = amounts.filter(({ asset }) => !context.hasRows(asset))
  return { amounts, findings: { ...counts, withoutRows } }
}

/** What a file of amounts of the wallets of an export may name. Lines of other exports of the chain are skipped. */
export async function amountContextOf({
  opened,
  labels,
  exports,
}: OpeningContext): Promise<AmountContext & { hasRows(asset: Asset): boolean }> {
  const { job, coverage } = opened.manifest
  const id = chainIdOf(job.chain)
  const all = exports ?? [{ chain: id, coverage }]
  const ofChain = all.filter(({ chain }) => chainIdOf(chain) === id).flatMap((wallets) => wallets.coverage)
  const names = [...labels, ...labelsIn(ofChain.filter(({ address }) => !labels.has(address)))]
  const decimals = await readDecimals(opened)
  return {
    labels: names.flatMap(([, label]) => label ?? []),
    walletsLabelled: (name) => names.flatMap(([address, label]) => (label === name ? [address] : [])),
    wallets: {
      addresses: new Set(ofChain.map(({ address }) => address)),
      own: new Set(coverage.map(({ address }) => address)),
      expected: 'the address of a wallet of the export',
    },
    decimalsOf: (asset) => decimals.get(assetBalanceKey('', asset)) ?? null,
    hasRows: (asset) => asset.type === 'native' || decimals.has(assetBalanceKey('', asset)),
    chain: { id, isRequired: all.some(({ chain }) => chainIdOf(chain) !== id) },
  }
}

const labelsIn = (coverage: readonly Coverage[]) =>
  coverage.map(({ address, label = null }) => [address, label] as const)

/**
 * The opening balances that are known without a file: what the service stated before the first block of each wallet, and
 * what the genesis records of the source state. Those of the service take precedence.
 */
async function readKnownOpening({ manifest, folder }: Dataset): Promise<WalletAmount[]> {
  const { opening = [] } = (await readReconciliation(folder)) ?? {}
  const firstBlocks = new Map(manifest.coverage.map(({ address, fromBlock }) => [address, fromBlock]))
  const learned = opening
    .filter(({ wallet_address, before_block }) => firstBlocks.get(wallet_address) === before_block)
    .map(
      ({ wallet_address: wallet, asset_type: type, asset_address: address, token_id: tokenId, value }) => ({
        wallet,
        asset: { type, address, tokenId },
        value: BigInt(value),
      }),
    )
  const amounts = [...genesisBalances(manifest), ...learned]
  return [
    ...new Map(amounts.map((amount) => [assetBalanceKey(amount.wallet, amount.asset), amount])).values(),
  ]
}

/** The genesis records of the wallets that were read from the first block on. */
export function genesisBalances({ opening = [], coverage }: Manifest): WalletAmount[] {
  const fromGenesis = new Set(
    coverage.flatMap(({ address, fromBlock }) => (fromBlock === 0 ? [address] : [])),
  )
  return opening
    .filter(({ walletAddress }) => fromGenesis.has(walletAddress))
    .map(({ walletAddress: wallet, assetType: type, assetAddress: address, tokenId, value }) => ({
      wallet,
      asset: { type, address, tokenId },
      value: BigInt(value),
    }))
}

/** Reads the largest decimals in the ledger rows of each asset; null if none has decimals. */
async function readDecimals({ collect, all }: Dataset): Promise<ReadonlyMap<string, number | null>> {
  const decimals = 'asset_decimals::INTEGER'
  await collect(
    'places (type VARCHAR, address VARCHAR, id VARCHAR, decimals INTEGER)',
    'ledger',
    (source) =>
      'SELECT asset_type, asset_address, token_id, ' +
      `max(${decimals}) FILTER (WHERE ${decimals} BETWEEN 0 AND 255) FROM ${source} GROUP BY ALL`,
  )
  const rows = await all(
    'SELECT type, address, id, max(decimals) AS decimals FROM places GROUP BY type, address, id',
  )
  return new Map(
    rows.map(({ type, address, id, decimals }) => [
      assetBalanceKey('', {
        type: type as string,
        address: address as string | null,
        tokenId: id as string | null,
      }),
      decimals === null ? null : Number(decimals),
    ]),
  )
}
