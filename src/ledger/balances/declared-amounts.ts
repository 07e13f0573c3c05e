import { ADDRESS } from '../../core/model/address.ts'
import { ASSET_TYPES, COIN_DECIMALS, isNft } from '../../core/model/asset.ts'
import { type CsvRecord, readRecords, recordError } from '../../read/csv-records.ts'
import { type Asset, assetBalanceKey } from './balance-sums.ts'

/** A line of a CSV file of amounts: a wallet, an asset, and how much of it. */
type DeclaredAmount = {
  line: number
  wallet: string
  asset: Asset
  /** In the asset's smallest unit. */
  value: bigint
}

export type DeclaredAmounts = {
  amounts: DeclaredAmount[]
  /** Lines with neither a value nor an amount: nobody has filled them in. */
  unfilled: number
}

/** What the export says of wallets and assets. */
export type AmountContext = {
  /** Addresses of the wallets with a label. */
  walletsLabelled(label: string): readonly string[]
  /** null where they are unknown. */
  decimalsOf(asset: Asset): number | null
}

/** Columns that such a file must have, in any order among others. */
const REQUIRED_COLUMNS = ['asset_type', 'asset_address', 'token_id'] as const

/**
 * Reads a CSV file with a header, by column name: `wallet_address` or `wallet_label`, each with an address or a label; the asset;
 * and `value` (smallest unit) or `amount` (whole units). Lines with neither are skipped and counted; a wallet and asset that
 * stand twice are refused. Throws USAGE with the line and what was expected there, or where the file cannot be read.
 */
export async function readDeclaredAmounts(file: string, context: AmountContext): Promise<DeclaredAmounts> {
  const amounts: DeclaredAmount[] = []
  const lines = new Map<string, number>()
  let unfilled = 0
  await readRecords(file, REQUIRED_COLUMNS, (record) => {
    const amount = amountOf(record, file, context)
    if (amount === undefined) {
      unfilled += 1
      return
    }
    const { line, wallet, asset } = amount
    const key = assetBalanceKey(wallet, asset)
    const previousLine = lines.get(key)
    if (previousLine !== undefined) {
      const found = `the wallet and asset of line ${previousLine}`
      throw recordError({ file, line }, { found, expected: 'each of them once' })
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
    'the contract; nothing for native',
  )
  expect('token_id', isNft({ type }) ? DIGITS.test(id) : id === '', 'the id of an NFT, else nothing')
  const asset = { type, address: address || null, tokenId: id || null }
  const value = toSmallestUnits(cells, expect, type === 'native' ? COIN_DECIMALS : context.decimalsOf(asset))
  return value === undefined ? undefined : { line, wallet, asset, value }
}

function requireColumns({ line, cells }: CsvRecord, file: string): void {
  const error = (expected: string) => recordError({ file, line }, { found: 'no such column', expected })
  if (!('wallet_address' in cells) && !('wallet_label' in cells))
    throw error('wallet_address or wallet_label, with an address or a label')
  if (!('value' in cells) && !('amount' in cells))
    throw error('value, in the smallest unit, or amount, in whole units')
}

function walletOf(cells: CsvRecord['cells'], expect: CheckCell, { walletsLabelled }: AmountContext): string {
  const column = cells.wallet_address ? 'wallet_address' : 'wallet_label'
  const name = cells[column] ?? ''
  if (ADDRESS.test(name.toLowerCase())) return name.toLowerCase()
  const matches = walletsLabelled(name)
  expect(column, matches.length > 0, 'an address, or a label of the job')
  expect(column, matches.length === 1, `an address, since ${matches.length} wallets have that label`)
  return matches[0] as string
}

/** In the smallest unit; undefined where neither value nor amount is filled in. Where both are, they must agree. */
function toSmallestUnits(
  { value = '', amount = '' }: CsvRecord['cells'],
  expect: CheckCell,
  decimals: number | null,
): bigint | undefined {
  if (value !== '') expect('value', INTEGER.test(value), 'a whole number, in the smallest unit')
  if (amount === '' || (value !== '' && decimals === null)) return value === '' ? undefined : BigInt(value)
  expect('amount', DECIMAL.test(amount), 'plain digits with a point, in whole units')
  expect('amount', decimals !== null, "the column value, as the asset's decimals are unknown")
  const decimalPlaces = decimals ?? 0
  const [whole = '', fraction = ''] = amount.replace('-', '').split('.')
  const digits = fraction.replace(/0+$/, '')
  expect('amount', digits.length <= decimalPlaces, `no more than the asset's ${decimalPlaces} decimals`)
  const exact = BigInt(whole + digits.padEnd(decimalPlaces, '0')) * (amount.startsWith('-') ? -1n : 1n)
  expect(
    'amount',
    value === '' || BigInt(value) === exact,
    `what the value ${value} comes to, or one of both`,
  )
  return exact
}

const DIGITS = /^\d{1,78}$/
const INTEGER = /^-?\d{1,100}$/
const DECIMAL = /^-?\d{1,100}(\.\d{1,255})?$/
