import { ADDRESS } from '../../core/model/address.ts'
import { ASSET_TYPES, type Asset, assetBalanceKey, COIN_DECIMALS, isNft } from '../../core/model/asset.ts'
import { parseChain } from '../../core/model/chains.ts'
import { suggest } from '../../core/model/suggest.ts'
import { type CsvRecord, readRecords } from '../../read/csv-records.ts'

/** How much of an asset a wallet has. */
export type WalletAmount = {
  wallet: string
  asset: Asset
  /** In the asset's smallest unit. */
  value: bigint
}

/** A line of a file of opening or expected balances. */
export type DeclaredAmount = WalletAmount & { line: number }

export type DeclaredAmounts = {
  amounts: DeclaredAmount[]
  /** Number of lines without a value and an amount: the rows of a template that were not filled in. */
  unfilled: number
  /** Number of lines of chains that the context does not have. */
  ofOtherChains: number
}

/** Look-ups in the export, and the chain whose lines are read. */
type AssetContext = {
  /** Addresses of the wallets with this label. */
  walletsLabelled(label: string): readonly string[]
  /** All labels, of which one is suggested for a label that no wallet has. */
  labels: readonly string[]
  /**
   * The wallets that lines may name by address, and a description of them; undefined for any wallets. Lines of those that are
   * not among `own` are skipped. @default all are
   */
  wallets: { addresses: ReadonlySet<string>; expected: string; own?: ReadonlySet<string> } | undefined
  /** The chain whose lines are read, and whether each line has to name its chain. @default the lines of all chains */
  chain?: { id: string; isRequired: boolean }
}

export type AmountContext = AssetContext & {
  /** null if unknown. */
  decimalsOf(asset: Asset): number | null
}

/** Required columns. Their order does not matter, and other columns are ignored. */
const REQUIRED_COLUMNS = ['asset_type', 'asset_address', 'token_id'] as const

/**
 * Reads a CSV file with a header, by column name: those of `readAssetLines`, and `value` (smallest unit) or `amount` (whole
 * units). Lines with neither are skipped and counted. A second line for the same wallet and asset is an error. Throws USAGE
 * with the line number if a line is invalid or names an unknown wallet, and if the file cannot be read.
 */
export async function readDeclaredAmounts(file: string, context: AmountContext): Promise<DeclaredAmounts> {
  const amounts: DeclaredAmount[] = []
  const lines = new Map<string, number>()
  let unfilled = 0
  const ofOtherChains = await readAssetLines(file, context, (record) => {
    const { line, wallet, asset, error } = record
    const value = valueOfLine(record, context)
    if (value === undefined) {
      unfilled += 1
      return
    }
    const key = assetBalanceKey(wallet, asset)
    const previousLine = lines.get(key)
    if (previousLine !== undefined)
      throw error(`the same wallet and asset as in line ${previousLine}`, 'each pair once')
    lines.set(key, line)
    amounts.push({ line, wallet, asset, value })
  })
  return { amounts, unfilled, ofOtherChains }
}

/** The value of a line in the smallest unit; undefined if it has neither value nor amount. Throws USAGE if it is invalid. */
export function valueOfLine(line: AssetLine, context: AmountContext): bigint | undefined {
  if (!('value' in line.cells) && !('amount' in line.cells))
    throw line.error('neither column', 'value, in the smallest unit, or amount, in whole units')
  return toSmallestUnits(line, decimalsIn(context, line.asset))
}

/** The decimals of an asset; null if unknown. */
export const decimalsIn = (context: AmountContext, asset: Asset): number | null =>
  asset.type === 'native' ? COIN_DECIMALS : context.decimalsOf(asset)

/** A line about a wallet's balance of an asset. */
export type AssetLine = CsvRecord & { wallet: string; asset: Asset }

/**
 * Reads a CSV file about balances: `wallet_address` or `wallet_label` (either accepts an address or a label), the columns of
 * the asset, and optionally `chain`.
 *
 * @returns the number of lines of other chains, which are skipped
 */
export async function readAssetLines(
  file: string,
  context: AssetContext,
  onLine: (line: AssetLine) => void,
): Promise<number> {
  let ofOtherChains = 0
  const read = (record: CsvRecord) => {
    if (isOfOtherChain(record, context.chain)) {
      ofOtherChains += 1
      return
    }
    const line = { ...record, ...assetOf(record, context) }
    if (context.wallets?.own?.has(line.wallet) !== false) onLine(line)
  }
  await readRecords(file, REQUIRED_COLUMNS, read, { isKept: true })
  return ofOtherChains
}

function isOfOtherChain({ cells, expect }: CsvRecord, chain: AmountContext['chain']): boolean {
  const { chain: cell = '' } = cells
  if (chain === undefined || (cell.trim() === '' && !chain.isRequired)) return false
  const id = parseChain(cell.trim(), chain.id)
  expect('chain', id !== undefined, CHAIN_EXPECTED)
  return id !== chain.id
}

const CHAIN_EXPECTED =
  'an id such as 43114 or a name such as avalanche (or nothing, if all exports are of one chain)'

function assetOf(record: CsvRecord, context: AssetContext): Pick<AssetLine, 'wallet' | 'asset'> {
  const { cells, error, expect } = record
  if (!('wallet_address' in cells) && !('wallet_label' in cells))
    throw error('neither column', 'wallet_address or wallet_label, with an address or a label')
  const { asset_type: type = '', asset_address = '', token_id: id = '' } = cells
  const address = asset_address.toLowerCase()
  const wallet = walletOf(record, context)
  expect('asset_type', ASSET_TYPES.includes(type), ASSET_TYPES.join(', '))
  expect(
    'asset_address',
    type === 'native' ? address === '' : ADDRESS.test(address),
    type === 'native' ? 'nothing for native' : 'a contract: 0x and 40 hex digits',
  )
  expect(
    'token_id',
    isNft({ type }) ? TOKEN_ID.test(id) : id === '',
    isNft({ type }) ? 'the id of an NFT: a decimal number without leading zeros' : `nothing for ${type}`,
  )
  return { wallet, asset: { type, address: address || null, tokenId: id || null } }
}

function walletOf({ cells, expect }: CsvRecord, { walletsLabelled, labels, wallets }: AssetContext): string {
  const column = cells.wallet_address ? 'wallet_address' : 'wallet_label'
  const name = cells[column] ?? ''
  const address = name.toLowerCase()
  if (ADDRESS.test(address)) {
    if (wallets !== undefined) expect(column, wallets.addresses.has(address), wallets.expected)
    return address
  }
  const matches = walletsLabelled(name)
  const suggestion = matches.length > 0 ? undefined : suggest(name, labels)
  const hint = suggestion === undefined ? '' : ` (did you mean ${suggestion}?)`
  expect(column, matches.length > 0, `an address or a label of the job${hint}`)
  expect(column, matches.length === 1, `an address, since ${matches.length} wallets have that label`)
  return matches[0] as string
}

/**
 * Returns the amount in the smallest unit, or undefined if neither value nor amount is given. If both are, they must
 * agree.
 */
function toSmallestUnits({ cells, expect }: CsvRecord, decimals: number | null): bigint | undefined {
  const { value = '', amount = '' } = cells
  if (value !== '') expect('value', INTEGER.test(value), 'a whole number, in the smallest unit')
  if (amount === '' || (value !== '' && decimals === null)) return value === '' ? undefined : BigInt(value)
  expect('amount', DECIMAL.test(amount), `${describePlainNumber(amount)}, in whole units`)
  expect('amount', decimals !== null, "the column value, because the asset's decimals are unknown")
  const decimalPlaces = decimals ?? 0
  const [whole = '', fraction = ''] = amount.replace('-', '').split('.')
  const digits = fraction.replace(/0+$/, '')
  expect('amount', digits.length <= decimalPlaces, `no more than the asset's ${decimalPlaces} decimals`)
  const exact = BigInt(whole + digits.padEnd(decimalPlaces, '0')) * (amount.startsWith('-') ? -1n : 1n)
  expect(
    'amount',
    value === '' || BigInt(value) === exact,
    `the same quantity as the value ${value}, or only one of them`,
  )
  return exact
}

const TOKEN_ID = /^(0|[1-9]\d{0,77})$/
const INTEGER = /^-?\d{1,100}$/
const DECIMAL = /^-?\d{1,100}(\.\d{1,255})?$/

/**
 * Describes the number that a cell must have. Names the number that was probably meant if it has a decimal comma; a comma
 * before three digits may separate thousands.
 */
export function describePlainNumber(text: string): string {
  if (/^-?\d{1,3}(,\d{3})+$/.test(text))
    return 'digits without thousands separators, and a decimal point if any'
  if (/^-?\d+,\d+$/.test(text)) return `a decimal point, as in ${text.replace(',', '.')}`
  return 'digits with an optional decimal point'
}
