import type { DuckDBResult } from '@duckdb/node-api'

/** A cell of an answer: whole numbers beyond 2^53, decimals and times are exact text. */
export type AnswerCell = string | number | boolean | null | object

/** A column of an answer, by its name there. */
export type AnswerColumn = { name: string; isNumber: boolean }

/** What a statement answers. */
export type Answer = {
  columns: readonly AnswerColumn[]
  /** To be gone through once; rows in the order of the answer. */
  batches: AsyncIterable<readonly (readonly AnswerCell[])[]>
}

/** An answer of the engine; `refuse` makes a failure of it ours. */
export function answerTo(result: DuckDBResult, refuse: (thrown: unknown) => never): Answer {
  const types = result.columnTypes().map(String)
  const columns = result.columnNames().map((name, at) => ({ name, isNumber: NUMBER.test(types[at] ?? '') }))
  const toCell = types.map(cellMaker)
  return { columns, batches: batchesOf(result, { toCell, refuse }) }
}

type ToCell = (value: AnswerCell) => AnswerCell
type Making = { toCell: readonly ToCell[]; refuse: (thrown: unknown) => never }

async function* batchesOf(result: DuckDBResult, { toCell, refuse }: Making) {
  try {
    for await (const rows of result.yieldRowsJson())
      yield rows.map((row) => row.map((value, at) => (toCell[at] as ToCell)(value)))
  } catch (thrown) {
    refuse(thrown)
  }
}

const NUMBER = /INT|BIGNUM|DECIMAL|DOUBLE|FLOAT/
const asIs: ToCell = (value) => value

function cellMaker(type: string): ToCell {
  if (type === 'BIGINT' || type === 'UBIGINT') return numberWhereExact
  return type.startsWith('TIMESTAMP') ? isoTime : asIs
}

const numberWhereExact: ToCell = (value) =>
  typeof value === 'string' && Number.isSafeInteger(Number(value)) ? Number(value) : value

/** `2023-11-14 22:46:40.5+00` → `2023-11-14T22:46:40.500Z`, as in our files. */
const isoTime: ToCell = (value) => {
  const [, date, time, fraction = ''] = TIME.exec(String(value)) ?? []
  return value === null || date === undefined ? value : `${date}T${time}.${fraction.padEnd(3, '0')}Z`
}

const TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?(?:\+00(?::00)?)?$/
