import { chainOf } from '../../core/model/chains.ts'
import { shiftDecimal } from '../../core/platform/decimal.ts'
import { isExactDouble, type Sheet, type SheetColumn } from '../../core/platform/xlsx.ts'
import { BALANCE_COLUMNS } from '../../ledger/balances/balance-sums.ts'
import { FIAT_DECIMALS } from '../../ledger/prices/prices.ts'
import { AMOUNTS, type AmountName } from './flows.ts'
import { decimalsOf, type StatementLine } from './ledger-sums.ts'
import type { Statement } from './statement.ts'

/** A table of exact text. */
export type TextTable = { columns: readonly SheetColumn[]; rows: (string | null)[][] }

/**
 * Returns a line per wallet and asset, with the columns of CONTRACT section 4 and amounts in whole units. With several
 * exports, `chain_id` comes first. With prices, the currency and the values of the amounts follow.
 */
export function statementTable({ lines, exports, currency }: Statement): TextTable {
  const keys = keyColumns(exports.length)
  const isPriced = currency !== undefined
  return {
    columns: [
      ...textColumns(keys),
      ...numberColumns(AMOUNTS),
      ...(isPriced ? textColumns(['currency']) : []),
      ...(isPriced ? numberColumns(AMOUNTS.map((name) => `${name}_value`)) : []),
    ],
    rows: lines.map((line) => [
      ...keys.map((name) => line[name]),
      ...AMOUNTS.map((name) => wholeUnits(line.amounts[name], line)),
      ...(isPriced ? [currency, ...AMOUNTS.map((name) => fiatText(line.values[name]))] : []),
    ]),
  }
}

/** Returns a line per wallet, asset and entry type: how many movements the period has, and their amounts in and out. */
export function entryTypeTable({ lines, exports }: Statement): TextTable {
  const keys = keyColumns(exports.length)
  return {
    columns: [
      ...textColumns([...keys, 'entry_type']),
      ...numberColumns(['movements', 'amount_in', 'amount_out']),
    ],
    rows: lines.flatMap((line) =>
      line.entries.map((entry) => [
        ...keys.map((name) => line[name]),
        entry.type,
        String(entry.movements),
        wholeUnits(entry.in, line),
        wholeUnits(entry.out, line),
      ]),
    ),
  }
}

/**
 * Returns the sheets of a workbook: a summary to print and sign, the exact statement, its totals by entry type, the period, and
 * negative balances.
 *
 * @param verdicts lines that say whether the balances were reconciled
 */
export function statementSheets(stated: Statement, verdicts: readonly string[]): Sheet[] {
  return [
    summarySheet(stated, verdicts),
    { name: 'Statement', ...withExactTexts(statementTable(stated)) },
    { name: 'Entry types', ...entryTypeTable(stated) },
    { name: 'Period', ...periodTable(stated) },
    { name: 'Below zero', ...belowZeroTable(stated) },
  ]
}

/**
 * Makes every number one that a spreadsheet can add up. A column with numbers that have more digits than a spreadsheet keeps is
 * followed by a column with their exact text.
 */
function withExactTexts({ columns, rows }: TextTable): TextTable {
  const isRounded = (at: number, text: string | null | undefined) =>
    columns[at]?.kind === 'number' && text != null && text !== '' && !isExactDouble(text)
  const rounded = new Set(
    columns.flatMap((_, at) => (rows.some((row) => isRounded(at, row[at])) ? [at] : [])),
  )
  return {
    columns: columns.flatMap((column, at): SheetColumn[] =>
      rounded.has(at)
        ? [
            { ...column, kind: 'amount' },
            { name: `${column.name}_exact`, kind: 'text' },
          ]
        : [column],
    ),
    rows: rows.map((row) =>
      row.flatMap((text, at) => (rounded.has(at) ? [text, isRounded(at, text) ? text : null] : [text])),
    ),
  }
}

/** Assets of a wallet that one page of the summary holds. */
const ASSETS_PER_PAGE = 60

/**
 * A line per wallet and asset for people: amounts at both ends and, with prices, the values of all columns with their totals, or
 * else all amounts. Own transfers, swaps and wraps are net.
 */
function summarySheet({ lines, exports, currency, period }: Statement, verdicts: readonly string[]): Sheet {
  const hasChains = exports.length > 1
  const isPriced = currency !== undefined
  const amounts = isPriced ? (['opening', 'closing'] as const) : NET_AMOUNTS
  const values = isPriced ? NET_AMOUNTS : []
  const assets = new Map<string, number>()
  for (const { wallet_address: wallet } of lines) assets.set(wallet, (assets.get(wallet) ?? 0) + 1)
  const pages = [...assets.values()].reduce((sum, count) => sum + Math.ceil(count / ASSETS_PER_PAGE), 0)
  const totals = values.map((name) => totalOf(lines, name))
  const lead = (text: string) => [text, null, ...(hasChains ? [null] : []), ...amounts.map(() => null)]
  return {
    name: 'Summary',
    columns: [
      ...textColumns(['wallet', ...(hasChains ? ['chain'] : []), 'asset']),
      ...columnsOf('amount')(amounts),
      ...columnsOf('money')(values.map((name) => `${name} (${currency})`)),
    ],
    rows: lines.map((line) => {
      const [ofAmounts, ofValues] = [netAmounts(line.amounts), netAmounts(line.values)]
      const chain = chainOf(line.chain_id)?.name ?? line.chain_id
      const id = line.token_id === null ? '' : ` #${line.token_id}`
      return [
        line.wallet_label ?? line.wallet_address,
        ...(hasChains ? [chain] : []),
        `${line.asset_symbol ?? line.asset_type}${id}`,
        ...amounts.map((name) => wholeUnits(ofAmounts[name] ?? 0n, line)),
        ...values.map((name) => fiatText(ofValues[name])),
      ]
    }),
    totals: isPriced
      ? [
          [...lead(`Total in ${currency}`), ...totals.map(({ value }) => fiatText(value))],
          [...lead('Lines with a price'), ...totals.map(({ priced, all }) => `${priced} of ${all}`)],
        ]
      : [],
    notes: [
      '',
      `From ${period.from} to ${period.until} (UTC)`,
      ...exports.map(
        ({ chain, newest, lastBlock }) =>
          `Chain ${chain}: rows up to block ${newest?.block ?? 'none'}, exported up to block ${lastBlock}`,
      ),
      ...verdicts,
      '',
      'Place, date:',
      '',
      'Signature:',
    ],
    maxPages: Math.max(1, pages),
  }
}

/** The amounts of a statement for people, in the order of columns. */
export const NET_AMOUNTS = [
  'opening',
  'received',
  'sent',
  'own',
  'income',
  'swapped',
  'wrapped',
  'fees',
  'closing',
] as const
export type NetAmount = (typeof NET_AMOUNTS)[number]

/** Nets own transfers, swaps and wraps. An unknown amount (null) makes a difference unknown. */
export function netAmounts(
  amounts: Readonly<Record<AmountName, bigint | null>>,
): Record<NetAmount, bigint | null> {
  const net = (plus: bigint | null, minus: bigint | null) =>
    plus === null || minus === null ? null : plus - minus
  const { opening, received, sent, income, fees, closing } = amounts
  return {
    opening,
    received,
    sent,
    own: net(amounts.own_in, amounts.own_out),
    income,
    swapped: net(amounts.swapped_in, amounts.swapped_out),
    wrapped: net(amounts.wrapped_in, amounts.wrapped_out),
    fees,
    closing,
  }
}

/** A line per export: its chain, the period, the newest row that counts, and the last exported block. */
function periodTable({ period: { from, until }, exports }: Statement): TextTable {
  return {
    columns: [
      ...textColumns(['chain_id']),
      ...timeColumns(['from_utc', 'until_utc', 'newest_row_utc']),
      ...numberColumns(['last_block']),
    ],
    rows: exports.map(({ chain, newest, lastBlock }) => [
      chain,
      from,
      until,
      newest?.time ?? null,
      lastBlock < 0 ? null : String(lastBlock),
    ]),
  }
}

/**
 * A line per balance that was negative after a transaction up to the end of the period: the first such transaction, the balance
 * after it and at the end, and the likely causes.
 */
function belowZeroTable({ exports }: Statement): TextTable {
  const keys = keyColumns(exports.length)
  return {
    columns: [
      ...textColumns(keys),
      ...numberColumns(['amount_then', 'block_number']),
      ...textColumns(['transaction_hash']),
      ...numberColumns(['closing']),
      ...textColumns(['likely_causes']),
    ],
    rows: exports.flatMap(({ chain: chain_id, belowZero }) =>
      belowZero.map((balance) => [
        ...keys.map((name) => ({ ...balance, chain_id })[name]),
        wholeUnits(balance.value_then, balance),
        String(balance.block_number),
        balance.transaction_hash,
        wholeUnits(balance.value, balance),
        balance.causes.join('; '),
      ]),
    ),
  }
}

/** The sum of the values that are known, how many amounts have one, and how many there are. */
export type Total = { value: bigint; priced: number; all: number }

/** Adds the values of a column. Amounts of zero do not count. */
export function totalOf(lines: readonly StatementLine[], name: NetAmount): Total {
  const total: Total = { value: 0n, priced: 0, all: 0 }
  for (const line of lines) {
    if (netAmounts(line.amounts)[name] === 0n) continue
    const value = netAmounts(line.values)[name]
    total.all += 1
    if (value === null) continue
    total.priced += 1
    total.value += value
  }
  return total
}

const keyColumns = (exports: number) =>
  exports > 1 ? (['chain_id', ...BALANCE_COLUMNS] as const) : BALANCE_COLUMNS

const columnsOf = (kind: SheetColumn['kind']) => (names: readonly string[]) =>
  names.map((name): SheetColumn => ({ name, kind }))
const [textColumns, numberColumns, timeColumns] = [columnsOf('text'), columnsOf('number'), columnsOf('time')]

/** An amount in whole units; null if the decimals of the token are unknown. */
export const wholeUnits = (value: bigint, line: Parameters<typeof decimalsOf>[0]): string | null =>
  shiftDecimal(String(value), decimalsOf(line))

const fiatText = (value: bigint | null) =>
  value === null ? null : shiftDecimal(String(value), FIAT_DECIMALS)
