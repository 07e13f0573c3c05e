import { ADDRESS } from '../core/address.ts'
import { ASSET_TYPES, isNft } from '../core/asset.ts'
import { type CsvRecord, readRecords, recordFault } from '../read/csv-records.ts'
import { type Asset, keyOf } from './sums.ts'

/** A line of a CSV file of amounts: a wallet, an asset, and how much of it. */
export type GivenAmount = {
  line: number
  wallet: string
  asset: Asset
  /** In the asset's smallest unit. */
  value: bigint
}

/** Columns that such a file must have, in any order among others. */
const NEEDED_COLUMNS = ['wallet_address', 'asset_type', 'asset_address', 'token_id', 'value'] as const
type Needed = (typeof NEEDED_COLUMNS)[number]

/**
 * Reads a CSV file with a header, by column name; a wallet and asset that stand twice are refused. Throws USAGE with the
 * line and what was expected there, or where the file cannot be read.
 */
export async function readAmounts(file: string): Promise<GivenAmount[]> {
  const amounts: GivenAmount[] = []
  const lines = new Map<string, number>()
  await readRecords(file, NEEDED_COLUMNS, (record) => {
    const amount = amountOf(record, file)
    const { line, wallet, asset } = amount
    const key = keyOf(wallet, asset)
    const before = lines.get(key)
    if (before !== undefined) {
      const found = `the wallet and asset of line ${before}`
      throw recordFault({ file, line }, { found, expected: 'each of them once' })
    }
    lines.set(key, line)
    amounts.push(amount)
  })
  return amounts
}

function amountOf({ line, cells }: CsvRecord, file: string): GivenAmount {
  const cell = (name: Needed) => cells[name] ?? ''
  const [wallet, type, address, id] = [
    cell('wallet_address').toLowerCase(),
    cell('asset_type'),
    cell('asset_address').toLowerCase(),
    cell('token_id'),
  ]
  const expect = (name: Needed, isGood: boolean, expected: string) => {
    const found = `${name} ${cell(name) || 'empty'}`
    if (!isGood) throw recordFault({ file, line }, { found, expected })
  }
  expect('wallet_address', ADDRESS.test(wallet), 'an address')
  expect('asset_type', ASSET_TYPES.includes(type), ASSET_TYPES.join(', '))
  expect(
    'asset_address',
    type === 'native' ? address === '' : address !== '',
    'the contract; nothing for native',
  )
  expect('token_id', isNft({ type }) ? DIGITS.test(id) : id === '', 'the id of an NFT, else nothing')
  expect('value', WHOLE.test(cell('value')), 'a whole number, in the smallest unit')
  const asset = { type, address: address || null, tokenId: id || null }
  return { line, wallet, asset, value: BigInt(cell('value')) }
}

const DIGITS = /^\d{1,78}$/
const WHOLE = /^-?\d{1,100}$/
