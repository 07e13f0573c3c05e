import { NATIVE, pricedAssetOf } from '../../ledger/prices/prices.ts'
import type { Dataset } from '../../read/dataset.ts'
import type { Asset } from '../movement.ts'
import { countBy, digitsToDistinguish, firstDigits } from './names.ts'
import type { TokenName, TokenNames } from './tickers.ts'

/** The name and decimals of a contract's tokens of one type, derived from the whole export. */
type Contract = {
  /** The symbol in the contract's first row; null if that row has none. */
  symbol: string | null
  /** Digits that distinguish the contract from all others of the export. */
  digits: string
  /** ERC-20 only: the name that the user or the table of well-known tokens gives to the contract. */
  ticker: TokenName | undefined
  /** ERC-20 only: the largest decimals in its rows, as for balances; null if none has any. */
  decimals: number | null
  /** ERC-1155 only: the largest decimals by token id, as for balances; ids without decimals are left out. */
  decimalsOfIds?: ReadonlyMap<string, number> | undefined
}

/** Contracts by `contractKey`. A contract may have tokens of several types. */
export type Contracts = ReadonlyMap<string, Contract>

export const contractKey = ({ type, address }: Pick<Asset, 'type' | 'address'>) => `${type}|${address}`

/** An export whose contracts are read. */
type ContractSource = { opened: Dataset; chain: string; tickers?: TokenNames | undefined }

/** Reads the contracts of one export, as `readContractsOfAll` does. */
export async function readContracts(opened: Dataset, tickers?: TokenNames): Promise<Contracts> {
  const [contracts = new Map()] = await readContractsOfAll([{ opened, chain: '', tickers }])
  return contracts
}

/**
 * Reads the names and decimals of all contracts from whole ledgers, regardless of the converted period, and returns those
 * of each export. Exports of one chain have the same names. A token that was renamed keeps its first symbol, so that it
 * remains one asset. Contracts of any chain with the same first digits are distinguished by their last digits. If a
 * contract has tokens of several types, they are distinguished by the number of their standard, such as `-721`. Digits do
 * not depend on the order of rows, so a newly added wallet with an earlier history cannot swap the names of two assets.
 */
export async function readContractsOfAll(exports: readonly ContractSource[]): Promise<Contracts[]> {
  const rows: ContractRow[] = []
  for (const { opened, chain } of exports)
    for (const row of await readContractRows(opened, chain)) rows.push(row)
  const digits = digitsToDistinguish(rows.map(({ address }) => address))
  const rowsByChain = new Map(
    exports.map(({ chain }) => [chain, uniteRows(rows.filter((row) => row.chain === chain))]),
  )
  const decimalsByChain = new Map<string, DecimalsOfIds>()
  for (const [chain, ofChain] of rowsByChain) {
    if (!ofChain.some(({ most }) => (most ?? 0) > 0)) continue
    const sources = exports.filter((source) => source.chain === chain)
    decimalsByChain.set(chain, await readDecimalsOfIds(sources.map(({ opened }) => opened)))
  }
  return exports.map(({ chain, tickers }) =>
    contractsFrom(rowsByChain.get(chain) ?? [], {
      digits,
      tickers,
      decimalsOfIds: decimalsByChain.get(chain),
    }),
  )
}

/** Decimals of ERC-1155 tokens by `contractKey` and token id. */
type DecimalsOfIds = ReadonlyMap<string, ReadonlyMap<string, number>>

type Naming = {
  digits: ReadonlyMap<string, string>
  tickers: TokenNames | undefined
  decimalsOfIds: DecimalsOfIds | undefined
}

/** `rows` are the contracts of a chain, those with the oldest rows first. */
function contractsFrom(rows: readonly ContractRow[], { digits, tickers, decimalsOfIds }: Naming): Contracts {
  const types = countBy(rows, ({ address }) => address)
  const standardOf = ({ address, type }: ContractRow) =>
    type === 'erc20' || types.get(address) === 1 ? '' : `-${type.slice('erc'.length)}`
  const symbols = new Map(rows.toReversed().map(({ address, symbol }) => [address, symbol || null]))
  const named = rows.map((contract): [string, Contract] => {
    const { address, decimals } = contract
    const key = contractKey(contract)
    const name = {
      symbol: symbols.get(address) ?? null,
      digits: `${digits.get(address)}${standardOf(contract)}`,
      ticker: tokenNameOf(contract, tickers),
    }
    return [key, { ...name, decimals, decimalsOfIds: decimalsOfIds?.get(key) }]
  })
  return new Map([...namesWithoutRows(tickers), ...named])
}

/** The coin, and tokens with a name, of which the export need not have rows: opening balances can be of such tokens. */
const namesWithoutRows = (tickers: TokenNames = new Map()) =>
  [...tickers].map(([name, ticker]): [string, Contract] => [
    contractKey(pricedAssetOf(name)),
    { symbol: null, digits: firstDigits(name), ticker, decimals: ticker.decimals ?? null },
  ])

/** Unites the rows of each contract, which several exports of a chain may have; sorted by their oldest ledger rows. */
function uniteRows(rows: readonly ContractRow[]): ContractRow[] {
  const united = new Map<string, ContractRow>()
  for (const row of rows) {
    const earlier = united.get(contractKey(row))
    united.set(contractKey(row), earlier === undefined ? row : uniteTwo(earlier, row))
  }
  const text = ({ address, type }: ContractRow) => `${address} ${type}`
  return [...united.values()].sort((a, b) =>
    a.oldest === b.oldest ? (text(a) < text(b) ? -1 : 1) : a.oldest < b.oldest ? -1 : 1,
  )
}

function uniteTwo(a: ContractRow, b: ContractRow): ContractRow {
  const decimals =
    a.decimals === null || b.decimals === null ? (a.decimals ?? b.decimals) : Math.max(a.decimals, b.decimals)
  return { ...(a.oldest <= b.oldest ? a : b), decimals, most: Math.max(a.most ?? 0, b.most ?? 0) }
}

/** The name of an ERC-20 token whose decimals, if they are known, are those that belong to the name. */
function tokenNameOf({ type, address, decimals }: ContractRow, tickers?: TokenNames): TokenName | undefined {
  const name = type === 'erc20' ? tickers?.get(address) : undefined
  const isMismatch = name?.decimals !== undefined && decimals !== null && decimals !== name.decimals
  return isMismatch ? undefined : name
}

const POSITION = 'block_number::HUGEINT * 4294967296 + coalesce(transaction_index::HUGEINT, 2147483646)'

/**
 * The rows of a contract. `oldest` is the position of the first one. `most` is the maximum of the decimals of its ERC-1155
 * tokens.
 */
type ContractRow = Pick<Asset, 'type'> &
  Pick<Contract, 'decimals'> & {
    chain: string
    address: string
    symbol: string
    oldest: bigint
    most: number | null
  }

async function readContractRows({ collect, all, textSql }: Dataset, chain: string): Promise<ContractRow[]> {
  const isRegular = 'asset_decimals::INTEGER BETWEEN 0 AND 255'
  const decimals = `CASE WHEN asset_type = 'erc20' AND ${isRegular} THEN asset_decimals::INTEGER END`
  const most = `max(CASE asset_type WHEN 'erc1155' THEN asset_decimals::INTEGER END)`
  await collect(
    'contracts (type VARCHAR, address VARCHAR, symbol VARCHAR, oldest HUGEINT, ' +
      'decimals INTEGER, most INTEGER)',
    'ledger',
    (source) =>
      `SELECT asset_type, asset_address, ` +
      `arg_min(coalesce(${textSql('asset_symbol')}, ''), ${POSITION}), min(${POSITION}), max(${decimals}), ${most} ` +
      `FROM ${source} WHERE asset_address IS NOT NULL GROUP BY asset_type, asset_address`,
  )
  const rows = await all(
    'SELECT type, address, arg_min(symbol, oldest) AS symbol, min(oldest)::VARCHAR AS oldest, ' +
      'max(decimals) AS decimals, max(most) AS most ' +
      'FROM contracts GROUP BY type, address',
  )
  return rows.map(({ oldest, ...row }) => ({
    ...(row as Pick<ContractRow, 'type' | 'address' | 'symbol' | 'decimals' | 'most'>),
    chain,
    oldest: BigInt(String(oldest)),
  }))
}

/** Reads the decimals of ERC-1155 tokens from exports of one chain: the largest of each token. */
async function readDecimalsOfIds(exports: readonly Dataset[]): Promise<DecimalsOfIds> {
  const byContract = new Map<string, Map<string, number>>()
  for (const opened of exports)
    for (const { address, id, decimals } of await readIds(opened)) {
      const key = contractKey({ type: 'erc1155', address })
      const ofIds = byContract.get(key) ?? new Map<string, number>()
      byContract.set(key, ofIds.set(id, Math.max(decimals, ofIds.get(id) ?? 0)))
    }
  return byContract
}

/** The ERC-1155 tokens of an export with decimals, several times if several files have rows of them. */
async function readIds({ collect, all }: Dataset) {
  await collect(
    'ids (address VARCHAR, id VARCHAR, decimals INTEGER)',
    'ledger',
    (source) =>
      `SELECT asset_address, token_id, max(asset_decimals::INTEGER) ` +
      `FROM ${source} WHERE asset_type = 'erc1155' AND asset_decimals::INTEGER BETWEEN 0 AND 255 GROUP BY asset_address, token_id`,
  )
  const rows = await all('SELECT address, id, decimals FROM ids')
  return rows.map(({ address, id, decimals }) => ({
    address: String(address),
    id: String(id),
    decimals: Number(decimals),
  }))
}

const COIN_KEY = contractKey(pricedAssetOf(NATIVE))

/** Returns the asset with the symbol, digits, ticker and decimals of its contract, which are the same for all of its rows. */
export function withContract(asset: Asset, contracts: Contracts): Asset {
  const contract = contracts.get(asset.address === null ? COIN_KEY : contractKey(asset))
  if (contract === undefined) return asset
  if (asset.address === null) return { ...asset, ticker: contract.ticker?.name }
  const { symbol, digits, decimalsOfIds } = contract
  const ticker = contract.ticker?.name
  const { type, address, tokenId } = asset
  const decimals = contract.decimals ?? decimalsOfIds?.get(tokenId ?? '') ?? asset.decimals
  // Field by field: a spread for each row takes a seventh of the time of a conversion.
  return { type, address, symbol, digits, ticker, decimals, tokenId }
}
