import { isNft } from '../../core/model/asset.ts'
import { shiftDecimal } from '../../core/platform/decimal.ts'
import { FLOWS } from './flows.ts'
import type { Statement, StatementLine } from './statement.ts'

/** A table of exact text, with a name for each column. */
export type TextTable = { columns: readonly string[]; rows: (string | null)[][] }

const ASSET_COLUMNS = [
  ...['wallet_address', 'wallet_label', 'asset_type', 'asset_address', 'asset_symbol', 'token_id'],
] as const satisfies readonly (keyof StatementLine)[]

/**
 * Returns a line per wallet and asset, with the columns of CONTRACT section 4 and amounts in whole units. With several
 * exports, `chain_id` comes first.
 */
export function statementTable({ lines, exports }: Statement): TextTable {
  const keys = keyColumns(exports.length)
  return {
    columns: [...keys, 'opening', ...FLOWS, 'closing'],
    rows: lines.map((line) => [
      ...keys.map((name) => line[name]),
      ...[line.opening, ...FLOWS.map((name) => line.flows[name]), line.closing].map((value) =>
        wholeUnits(value, line),
      ),
    ]),
  }
}

/** Returns a line per wallet, asset and entry type: how many movements the period has, and their amounts in and out. */
export function entryTypeTable({ lines, exports }: Statement): TextTable {
  const keys = keyColumns(exports.length)
  return {
    columns: [...keys, 'entry_type', 'movements', 'amount_in', 'amount_out'],
    rows: lines.flatMap((line) =>
      line.entries.map((entry) => [
        ...keys.map((name) => line[name]),
        ...[entry.type, String(entry.movements)],
        ...[wholeUnits(entry.in, line), wholeUnits(entry.out, line)],
      ]),
    ),
  }
}

const keyColumns = (exports: number) =>
  exports > 1 ? (['chain_id', ...ASSET_COLUMNS] as const) : ASSET_COLUMNS

/** The decimals of a line's amounts; null if unknown. ERC-1155 tokens without decimals are counted in pieces. */
export const decimalsOf = (line: Pick<StatementLine, 'asset_type' | 'asset_decimals'>): number | null =>
  line.asset_decimals ?? (isNft({ type: line.asset_type }) ? 0 : null)

/** An amount in whole units; null if the decimals of the token are unknown. */
export const wholeUnits = (value: bigint, line: StatementLine): string | null =>
  shiftDecimal(String(value), decimalsOf(line))
