import { shiftDecimal } from '../../core/platform/decimal.ts'
import type { Sheet, SheetColumn } from '../../core/platform/xlsx.ts'
import { FIAT_DECIMALS } from '../../ledger/prices/prices.ts'
import { AMOUNTS } from './flows.ts'
import { decimalsOf, type StatementLine } from './ledger-sums.ts'
import type { Statement } from './statement.ts'

/** A table of exact text. */
export type TextTable = { columns: readonly SheetColumn[]; rows: (string | null)[][] }

const ASSET_COLUMNS = [
  'wallet_address',
  'wallet_label',
  'asset_type',
  'asset_address',
  'asset_symbol',
  'token_id',
] as const satisfies readonly (keyof StatementLine)[]

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

/** Returns the sheets of a workbook: the statement, its totals by entry type, the period, and negative balances. */
export function statementSheets(stated: Statement): Sheet[] {
  return [
    { name: 'Statement', ...statementTable(stated) },
    { name: 'Entry types', ...entryTypeTable(stated) },
    { name: 'Period', ...periodTable(stated) },
    { name: 'Below zero', ...belowZeroTable(stated) },
  ]
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

const keyColumns = (exports: number) =>
  exports > 1 ? (['chain_id', ...ASSET_COLUMNS] as const) : ASSET_COLUMNS

const columnsOf = (kind: SheetColumn['kind']) => (names: readonly string[]) =>
  names.map((name): SheetColumn => ({ name, kind }))
const [textColumns, numberColumns, timeColumns] = [columnsOf('text'), columnsOf('number'), columnsOf('time')]

/** An amount in whole units; null if the decimals of the token are unknown. */
export const wholeUnits = (value: bigint, line: Parameters<typeof decimalsOf>[0]): string | null =>
  shiftDecimal(String(value), decimalsOf(line))

const fiatText = (value: bigint | null) =>
  value === null ? null : shiftDecimal(String(value), FIAT_DECIMALS)
