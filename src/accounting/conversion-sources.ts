import { chainIdOf } from '../core/model/chains.ts'
import { ExportError } from '../core/model/errors.ts'
import { labelsOf } from '../core/model/wallet-sample.ts'
import { type AddressNames, applyNames } from '../read/address-book.ts'
import { type Dataset, openDataset, requireLedger } from '../read/dataset.ts'
import { requireNewWallets } from './distinct-wallets.ts'
import { readContractsOfAll } from './names/contracts.ts'
import { readTickers, type TokenNames } from './names/tickers.ts'
import type { ConvertOptions } from './options.ts'
import type { WrittenExport } from './text-writer.ts'
import { FORMAT_NAMES, usesIdentifiers } from './writers.ts'

/** The folder of an export, or the folders of several. */
export type Outputs = string | readonly [string, ...string[]]

/** An export that is converted, with the names that apply to it. The labels in its manifest include the user's names. */
export type ConversionSource = WrittenExport & {
  tickers: TokenNames
  /** Tokens with a ticker, also in formats with identifiers of their own. They are no spam. */
  trusted: TokenNames
  /** Names of addresses, including the wallets of all converted exports of the chain. */
  names: AddressNames
}

/**
 * Opens the exports of a conversion, runs it, and closes them. Throws USAGE if an export has no ledger, a wallet is in two
 * exports of a chain, or an option does not fit several exports.
 */
export async function withSources<T>(
  outputs: Outputs,
  options: Partial<ConvertOptions>,
  convertSources: (sources: readonly ConversionSource[]) => Promise<T>,
): Promise<T> {
  const folders = typeof outputs === 'string' ? [outputs] : outputs
  const opened: Dataset[] = []
  try {
    for (const output of folders) opened.push(await openDataset(output))
    return await convertSources(await describeSources(folders, opened, options))
  } finally {
    for (const one of opened) await one.close()
  }
}

type NamedOutput = Pick<ConversionSource, 'output' | 'opened' | 'chain' | 'tickers' | 'trusted' | 'names'>

async function describeSources(
  outputs: readonly string[],
  opened: readonly Dataset[],
  options: Partial<ConvertOptions>,
): Promise<ConversionSource[]> {
  const named: NamedOutput[] = []
  for (const [at, one] of opened.entries()) {
    const output = outputs[at] ?? ''
    requireLedger(one.manifest, output, 'conversions are made from')
    const { job } = one.manifest
    const context = { job, programs: FORMAT_NAMES, usesIdentifiers }
    const tickers = await readTickers(options, context)
    const { tickers: file, builtinTickers = true } = options
    const trusted = new Map([...(await readTickers({ tickers: file, builtinTickers }, context)), ...tickers])
    const { manifest, names } = await applyNames(options.names, one.manifest)
    named.push({
      output,
      tickers,
      trusted,
      names,
      opened: { ...one, manifest },
      chain: chainIdOf(job.chain),
    })
  }
  requireFit(named, options)
  const contracts = await readContractsOfAll(named)
  return named.map((source, at) => ({
    ...source,
    names: namesOnChain(source.chain, named),
    contracts: contracts[at] ?? new Map(),
  }))
}

/** The names of all exports of a chain. The labels of wallets take precedence. */
function namesOnChain(chain: string, all: readonly NamedOutput[]): AddressNames {
  const ofChain = all.filter((one) => one.chain === chain)
  return new Map([
    ...ofChain.flatMap(({ names }) => [...names]),
    ...ofChain.flatMap(({ opened }) => [...labelsOf(opened.manifest.coverage)]),
  ])
}

function requireFit(all: readonly NamedOutput[], { chainName }: Partial<ConvertOptions>): void {
  const exports = all.map(({ output, chain, opened }) => ({
    output,
    chain,
    wallets: opened.manifest.coverage,
  }))
  for (const [at, one] of exports.entries())
    requireNewWallets(one, exports.slice(0, at), 'leave out one of the exports')
  const chains = exports.map(({ chain }) => chain)
  const refuse = (message: string, fix: string) => new ExportError('USAGE', message, { fix })
  if (chainName !== undefined && new Set(chains).size > 1)
    throw refuse(
      `--chain-name names one chain, but these exports are of chains ${[...new Set(chains)].join(' and ')}`,
      'Omit --chain-name, or convert each export to a file of its own.',
    )
}
