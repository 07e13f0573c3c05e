import type { TableDeclaration } from './column.ts'

/** A column that Parquet files have in addition with `numbers: decimal`: a number beside the exact text of another column. */
export type DecimalColumn = {
  readonly name: string
  /** The column whose text it repeats. */
  readonly of: 'value' | 'amount'
  readonly precision: 38
  readonly scale: number
  /** Its id in Parquet files and Iceberg schemas: above those of columns, and below those of partitions. */
  readonly id: number
  readonly about: string
}

const DECIMAL_COLUMNS: readonly DecimalColumn[] = [
  {
    name: 'value_decimal',
    of: 'value',
    precision: 38,
    scale: 0,
    id: 901,
    about: 'value as DECIMAL(38, 0); null if it has more digits.',
  },
  {
    name: 'amount_decimal',
    of: 'amount',
    precision: 38,
    scale: 18,
    id: 902,
    about: 'amount as DECIMAL(38, 18); null if it has more than 20 digits before the point or 18 after it.',
  },
]

/** The additional columns of a table's files, after all others; none unless the numbers of the job are `decimal`. */
export const decimalColumnsOf = (
  { columns }: Pick<TableDeclaration, 'columns'>,
  numbers: string | undefined,
): readonly DecimalColumn[] =>
  numbers === 'decimal' ? DECIMAL_COLUMNS.filter(({ of }) => columns.some(({ name }) => name === of)) : []
