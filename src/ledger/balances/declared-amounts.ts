import { ADDRESS } from '../../core/model/address.ts'
import { ASSET_TYPES, type Asset, assetBalanceKey, COIN_DECIMALS, isNft } from '../../core/model/asset.ts'
import { suggest } from '../../core/model/suggest.ts'
import { type CsvRecord, readRecords, recordError, requireKeptLine } from '../../read/csv-records.ts'
import { describePlainNumber } from '../describe-plain-number.ts'

/** A line of a file of opening or expected balances. */
export type DeclaredAmount = {
  line: number
  wallet: string
  asset: Asset
  /** In the asset's smallest unit. */
  value: bigint
}

export type DeclaredAmounts = {
  amounts: DeclaredAmount[]
  /** Number of lines without a value and an amount: the rows of a template that were not filled in. */
  unfilled: number
}

/** Look-ups in the export. */
export type AmountContext = {
  /** Addresses of the wallets with this label. */
  walletsLabelled(label: string): readonly string[]
  /** All labels, of which one is suggested for a label that no wallet has. */
  labels: readonly string[]
  /** The wallets that lines may name by address, and a description of them; undefined for any wallets. */
  wallets: { addresses: ReadonlySet<string>; expected: string } | undefined
  /** null if unknown. */
  decimalsOf(asset: Asset): number | null
}

/** Required columns. Their order does not matter, and other columns are ignored. */
const REQUIRED_COLUMNS = ['asset_type', 'asset_address', 'token_id'] as const

/**
 * Reads a CSV file with a header, by column name: `wallet_address` or `wallet_label` (either accepts an address or a
 * label), the columns of the asset, and `value` (smallest unit) or `amount` (whole units). Lines with neither are
 * skipped and counted. A second line for the same wallet and asset is an error. Throws USAGE with the line number if a
 * line is invalid or names an unknown wallet, and if the file cannot be read.
 */
export async function readDeclaredAmounts(file: string, context: AmountContext): Promise<DeclaredAmounts> {
  const amounts: DeclaredAmount[] = []
  const lines = new Map<string, number>()
  let unfilled = 0
  await readRecords(file, REQUIRED_COLUMNS, (record) => {
    requireKeptLine({ file, line: record.line })
    const amount = amountOf(record, file, context)
    if (amount === undefined) {
      unfilled += 1
      return
    }
    const { line, wallet, asset } = amount
    const key = assetBalanceKey(wallet, asset)
    const previousLine = lines.get(key)
    if (previousLine !== undefined) {
      const found = `the same wallet and asset as in line ${previousLine}`
      throw recordError({ file, line }, { found, expected: 'each pair once' })
    }
    lines.set(key, line)
    amounts.push(amount)
  })
  return { amounts, unfilled }
}

type CheckCell = (column: string, isValid: boolean, expected: string) => void

function amountOf(record: CsvRecord, file: string, context: AmountContext): DeclaredAmount | undefined {
  const { line, cells } = record
  requireColumns(record, file)
  const cell = (name: string) => cells[name] ?? ''
  const expect: CheckCell = (column, isValid, expected) => {
    const found = `${column} ${cell(column) || 'empty'}`
    if (!isValid) throw recordError({ file, line }, { found, expected })
  }
  const [type, address, id] = [cell('asset_type'), cell('asset_address').toLowerCase(), cell('token_id')]
  const wallet = walletOf(cells, expect, context)
  expect('asset_type', ASSET_TYPES.includes(type), ASSET_TYPES.join(', '))
  expect(
    'asset_address',
    type === 'native' ? address === '' : address !== '',
    'a contract, or nothing for native',
  )
  expect(
    'token_id',
    isNft({ type }) ? DIGITS.test(id) : id === '',
    'the id of an NFT, or nothing for other assets',
  )
  const asset = { type, address: address || null, tokenId: id || null }
  const value = toSmallestUnits(cells, expect, type === 'native' ? COIN_DECIMALS : context.decimalsOf(asset))
  return value === undefined ? undefined : { line, wallet, asset, value }
}

function requireColumns({ line, cells }: CsvRecord, file: string): void {
  const error = (expected: string) => recordError({ file, line }, { found: 'neither column', expected })
  if (!('wallet_address' in cells) && !('wallet_label' in cells))
    throw error('wallet_address or wallet_label, with an address or a label')
  if (!('value' in cells) && !('amount' in cells))
    throw error('value, in the smallest unit, or amount, in whole units')
}

function walletOf(
  cells: CsvRecord['cells'],
  expect: CheckCell,
  { walletsLabelled, labels, wallets }: AmountContext,
): string {
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
function toSmallestUnits(
  { value = '', amount = '' }: CsvRecord['cells'],
  expect: CheckCell,
  decimals: number | null,
): bigint | undefined {
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

const DIGITS = /^\d{1,78}$/
const INTEGER = /^-?\d{1,100}$/
const DECIMAL = /^-?\d{1,100}(\.\d{1,255})?$/
