import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { shiftDecimal } from '../../../src/core/platform/decimal.ts'
import type { Program, Token } from './case.ts'

type Row = Readonly<Record<string, string>>
/** Where the rows of a program are, and what the test reads of each. */
type Reader = (out: string, tokens: readonly Token[]) => [text: string, rows: readonly string[]][]

/** Reads a converted file. Returns the rows of each transaction by its hash, without dates, ids and descriptions. */
export function readRows(program: Program, out: string, tokens: readonly Token[]): Map<string, string[]> {
  const rowsOf = new Map<string, string[]>()
  for (const [text, rows] of READERS[program](out, tokens)) {
    const hash = /0x[0-9a-f]{64}/.exec(text)?.[0] ?? ''
    rowsOf.set(hash, [...(rowsOf.get(hash) ?? []), ...rows])
  }
  return rowsOf
}

const READERS: Readonly<Record<Program, Reader>> = {
  koinly: (out) => {
    const names = new Map(records(`${out}.assets.csv`).map(({ placeholder, name }) => [placeholder, name]))
    const nameOf = (asset = '') =>
      names.has(asset) ? `${asset.replace(/\d+/, '')} of ${names.get(asset)}` : asset
    return [
      ...lines(out, (row) => [
        row.Label,
        amount('-', row['Sent Amount'], nameOf(row['Sent Currency'])),
        amount('+', row['Received Amount'], nameOf(row['Received Currency'])),
      ]),
      ...feesOf(out, 'Fee Amount', (row) => `cost -${row['Fee Amount']} ${row['Fee Currency']}`),
    ]
  },
  cointracking: (out) => [
    ...lines(out, (row) => [
      row.Type,
      amount('-', withoutFee(row['Sell Amount'], row.Fee), row['Sell Currency']),
      amount('+', row['Buy Amount'], row['Buy Currency']),
    ]),
    ...feesOf(out, 'Fee', (row) => `Other Fee -${row.Fee} ${row['Fee Currency']}`),
  ],
  rotki: (out, tokens) => {
    const nameOf = (id = '') => shortId(id, tokens)
    return [
      ...lines(join(out, 'events.csv'), (row) => [row.Type, row.Amount, nameOf(row.Currency)]),
      ...lines(join(out, 'trades.csv'), (row) => [
        'trade',
        amount('-', row['Spend Amount'], nameOf(row['Spend Currency'])),
        amount('+', row['Receive Amount'], nameOf(row['Receive Currency'])),
      ]),
    ]
  },
  hledger: (out) =>
    readFileSync(out, 'utf8')
      .split('\n\n')
      .map((entry) => [entry, postingPairs(entry)]),
  rp2: (out) => [
    ...lines(join(out, 'in.csv'), (row) => ['in', row.transaction_type, row.crypto_in, row.asset]),
    ...lines(join(out, 'out.csv'), (row) => [
      'out',
      row.transaction_type,
      row.transaction_type === 'FEE' ? row.crypto_fee : row.crypto_out_no_fee,
      row.asset,
    ]),
    ...lines(join(out, 'intra.csv'), (row) => [
      'intra',
      amount('', row.crypto_sent, `${row.asset},`),
      row.crypto_received,
      row.asset,
    ]),
  ],
}

const records = (file: string): Row[] => parse(readFileSync(file), { columns: true })

function lines(file: string, cellsOf: (row: Row) => readonly (string | undefined)[]): ReturnType<Reader> {
  return records(file).map((row) => [Object.values(row).join(' '), [cellsOf(row).filter(Boolean).join(' ')]])
}

/** The fees in the fee columns of other rows, as the rows of their own that they would otherwise be. */
function feesOf(file: string, column: string, textOf: (row: Row) => string): ReturnType<Reader> {
  return records(file)
    .flatMap((row) => (row[column] ? [[Object.values(row).join(' '), [textOf(row)]] as const] : []))
    .map(([text, rows]) => [text, [...rows]])
}

/** The amount of which CoinTracking shows the sum with the fee. */
function withoutFee(amount = '', fee = ''): string {
  if (amount === '' || fee === '') return amount
  const [sum, part] = [amount, fee].map((text) => BigInt(padded(text)))
  return shiftDecimal(String((sum ?? 0n) - (part ?? 0n)), 18) ?? ''
}

/** The digits of an amount in units of 10^-18. */
function padded(text: string): string {
  const [whole = '', fraction = ''] = text.split('.')
  return whole + fraction.padEnd(18, '0')
}

const amount = (sign: string, value = '', asset = '') => (value === '' ? '' : `${sign}${value} ${asset}`)

/** Replaces the contract in an identifier of rotki by the name that other programs get. */
function shortId(id: string, tokens: readonly Token[]): string {
  const [, kind, contract = '', tokenId] =
    /^eip155:43114\/(erc\d+):(0x[0-9a-f]{40})(?:\/(\d+))?$/.exec(id) ?? []
  if (kind === undefined) return id
  const digits = contract.slice(2, 10)
  const symbol = tokens.find(({ address }) => address === contract)?.symbol ?? 'APE'
  const hasTicker = !/^(..)\1+$/.test(contract.slice(2))
  return `${kind}:${symbol}${hasTicker ? '' : `-${digits}`}${tokenId === undefined ? '' : `#${tokenId}`}`
}

/** The postings of an entry in pairs, each of which balances. */
function postingPairs(entry: string): string[] {
  const postings = entry
    .split('\n')
    .filter((line) => line.startsWith('    '))
    .map((line) =>
      line
        .replace(/ {2};.*/, '')
        .trim()
        .replaceAll('"', '')
        .replace(/ {2,}/, ' '),
    )
    .map((line) =>
      line.replace(/^assets:crypto:(Ann|Büro).*? [ab]{8} /, (_, name) => `${ACCOUNTS.get(name)} `),
    )
  return postings.flatMap((posting, at) => (at % 2 === 0 ? [`${posting}, ${postings[at + 1]}`] : []))
}

const ACCOUNTS = new Map([
  ['Ann', 'Ann'],
  ['Büro', 'Ben'],
])
