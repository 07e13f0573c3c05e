import { chainIdOf, evmIdOf } from '../core/model/chains.ts'
import { ExportError } from '../core/model/errors.ts'
import { labelsOf } from '../core/model/wallet-sample.ts'
import { type AdjustmentFindings, addAdjustments, NO_ADJUSTMENTS } from '../ledger/balances/adjustments.ts'
import { balances, selectWallets } from '../ledger/balances/balances.ts'
import type { ChainWallets } from '../ledger/balances/read-opening.ts'
import {
  type FungibleAsset,
  type Prices,
  readFungibleAssets,
  readPrices,
  requireChainOfEachPrice,
} from '../ledger/prices/prices.ts'
import { type AddressNames, applyNames } from '../read/address-book.ts'
import { type Dataset, openDataset, requireLedger } from '../read/dataset.ts'
import type { Movement } from './movement.ts'
import { readContractsOfAll } from './names/contracts.ts'
import { readTickers, type TokenNames } from './names/tickers.ts'
import type { ConvertOptions } from './options.ts'
import type { ConversionPrices, WrittenExport } from './text-writer.ts'

/** The folder of an export, or the folders of several. */
export type Outputs = string | readonly [string, ...string[]]

/** An export that is converted, with what applies to it. The labels in its manifest include the user's names. */
export type ConversionSource = WrittenExport & {
  /** Names of addresses, including the wallets of all converted exports of the chain. */
  names: AddressNames
  /** The reason for omitting its movements, by the contract of each token that is excluded as spam. */
  spam: ReadonlyMap<string, string>
  /** The wallets of all converted exports. */
  exports: readonly ChainWallets[]
  /** The user's adjustments, which `opened` streams with the rows of the ledger. */
  adjustments: AdjustmentFindings
}

/**
 * Opens exports, passes them to `work`, and closes them. Throws USAGE if an export has no ledger, which `work` needs as
 * `use` says, a wallet is in two exports of a chain, or an option does not fit several exports.
 */
export async function withSources<T>(
  outputs: Outputs,
  options: Partial<ConvertOptions>,
  work: (sources: readonly ConversionSource[]) => Promise<T>,
  use = 'conversions are made from',
): Promise<T> {
  const opened: Dataset[] = []
  try {
    const named: NamedSource[] = []
    for (const output of typeof outputs === 'string' ? [outputs] : outputs) {
      const source = await openDataset(output)
      opened.push(source)
      requireLedger(source.manifest, output, use)
      named.push(await nameSource(output, source, options))
    }
    return await work(await describeSources(named, options))
  } finally {
    for (const source of opened) await source.close()
  }
}

type NamedSource = Omit<ConversionSource, 'contracts' | 'spam' | 'exports' | 'adjustments'> & {
  tickers: TokenNames
  /** Tokens with a ticker, also in formats with identifiers of their own. They are no spam. */
  trusted: TokenNames
}

async function nameSource(
  output: string,
  opened: Dataset,
  options: Partial<ConvertOptions>,
): Promise<NamedSource> {
  const { job } = opened.manifest
  const tickers = await readTickers(options, job, options.to)
  const trusted = new Map([...(await readTickers(options, job, undefined)), ...tickers])
  const { manifest, names } = await applyNames(options.names, opened.manifest)
  return { output, tickers, trusted, names, opened: { ...opened, manifest }, chain: chainIdOf(job.chain) }
}

async function describeSources(
  named: readonly NamedSource[],
  { chainName, excludeSpam = false, adjustments: file }: Partial<ConvertOptions>,
): Promise<ConversionSource[]> {
  const exports = named.map(({ output, chain, opened: { manifest } }) => {
    const { coverage } = manifest
    return { output, chain, coverage, wallets: coverage }
  })
  for (const [at, added] of exports.entries())
    requireNewWallets(added, exports.slice(0, at), 'leave out one of the exports')
  const chains = [...new Set(named.map(({ chain }) => chain))]
  if (chainName !== undefined && chains.length > 1)
    throw new ExportError(
      'USAGE',
      `--chain-name names one chain, but these exports are of chains ${chains.join(' and ')}`,
      { fix: 'Omit --chain-name, or convert each export to a file of its own.' },
    )
  const contracts = await readContractsOfAll(named)
  const spam = new Map<string, ConversionSource['spam']>()
  for (const chain of excludeSpam ? chains : [])
    spam.set(chain, await readSpam(named.filter((source) => source.chain === chain)))
  const adjustments: AdjustmentFindings[] = []
  for (const { opened } of named)
    adjustments.push(
      await addAdjustments(file, { opened, labels: labelsOf(opened.manifest.coverage), exports }),
    )
  return named.map((source, at) => ({
    ...source,
    exports,
    adjustments: adjustments[at] ?? NO_ADJUSTMENTS,
    names: namesOnChain(named.filter(({ chain }) => chain === source.chain)),
    contracts: contracts[at] ?? new Map(),
    spam: spam.get(source.chain) ?? new Map(),
  }))
}

/** The names of all exports of a chain. The labels of wallets take precedence. */
const namesOnChain = (sources: readonly NamedSource[]): AddressNames =>
  new Map([
    ...sources.flatMap(({ names }) => [...names]),
    ...sources.flatMap(({ opened }) => [...labelsOf(opened.manifest.coverage)]),
  ])

/** An export and its wallets. */
type ExportedWallets = { output: string; chain: string; wallets: readonly { address: string }[] }

/**
 * Throws USAGE if a wallet is in another export of the same chain: its movements would be counted twice. `fix` says how to
 * leave it out.
 */
export function requireNewWallets(
  { output, chain, wallets }: ExportedWallets,
  others: readonly ExportedWallets[],
  fix: string,
): void {
  for (const other of others.filter((other) => other.chain === chain)) {
    const addresses = new Set(other.wallets.map(({ address }) => address))
    const repeated = wallets.find(({ address }) => addresses.has(address))
    if (repeated !== undefined)
      throw new ExportError(
        'USAGE',
        `${output} and ${other.output} both contain wallet ${repeated.address} on chain ${chain}`,
        { fix: `Name each wallet of a chain once: ${fix}.` },
      )
  }
}

/** Returns whether a movement is of the wallets with these addresses or labels. Throws USAGE if there is no such wallet. */
export function selectorOf(
  sources: readonly ConversionSource[],
  names: readonly string[] | undefined,
): (movement: Movement) => boolean {
  if (names === undefined || names.length === 0) return () => true
  const coverage = sources.flatMap(({ opened }) => opened.manifest.coverage)
  const wallets = selectWallets({ coverage }, names)
  return ({ wallet }) => wallets.has(wallet)
}

/**
 * Reads the spam tokens of all exports of a chain, with the reasons. A token is spam in all of them if it is flagged in
 * one, and never if it has a ticker.
 */
export async function readSpam(
  sources: readonly Pick<NamedSource, 'output' | 'trusted'>[],
): Promise<ReadonlyMap<string, string>> {
  const rules = new Map<string, Set<string>>()
  for (const { output, trusted } of sources)
    for (const { asset_address: contract, flags } of (await balances(output)).flagged)
      if (!trusted.has(contract))
        rules.set(contract, new Set([...(rules.get(contract) ?? []), ...flags.map(({ rule }) => rule)]))
  return new Map([...rules].map(([contract, names]) => [contract, `spam: ${[...names].sort().join(', ')}`]))
}

/**
 * Reads the prices of all exports from one file; undefined without a file. Throws USAGE if the file is invalid, or if the
 * exports are of several chains and a price has no chain.
 */
export async function readConversionPrices(
  sources: readonly WrittenExport[],
  file: string | undefined,
): Promise<ConversionPrices | undefined> {
  if (file === undefined) return undefined
  const chains = [...new Set(sources.map(({ chain }) => chain))]
  await requireChainOfEachPrice(file, chains)
  const byChain = new Map<string, Prices>()
  for (const chain of chains) {
    const assetsOf = async () => {
      const assets: FungibleAsset[] = []
      for (const source of sources)
        if (source.chain === chain)
          for (const asset of await readFungibleAssets(source.opened)) assets.push(asset)
      return assets
    }
    byChain.set(chain, await readPrices(file, { chain, assetsOf }))
  }
  const [first] = byChain.values()
  if (first === undefined) return undefined
  // If the EVM id of a job's chain is unknown, its rows can state it, so that they name another chain than the job.
  const ofUnknownId = byChain.get(chains.find((chain) => evmIdOf(chain) === undefined) ?? '') ?? first
  return { currency: first.currency, ofChain: (chain) => byChain.get(chain) ?? ofUnknownId }
}
