import { childExpressions, type PlanNode, typeOf, withSubexpressions } from './query-plan.ts'

/**
 * Which columns of an operator are floating point computed from exact numbers. `columns` is undefined if
 * their order is unknown; any column may then be rounded if `hasRounded` is true.
 */
export type RoundedColumns = { columns: readonly boolean[] | undefined; hasRounded: boolean }

/** Aggregates that are approximate by nature: statements may sort by them and compare them. */
const STATISTIC =
  /^(avg|mean|favg|geomean|geometric_mean|median|mad|mode|quantile.*|approx_.*|reservoir_.*|std.*|var.*|sem|covar.*|corr|regr_.*|skewness|kurtosis.*|entropy|product)$/

const FLOAT = /^(DOUBLE|FLOAT)$/
/** Digits that a DOUBLE represents exactly. */
const DOUBLE_DIGITS = 15

function isExact(expression: PlanNode): boolean {
  const { id, width } = typeOf(expression)
  return id === 'BIGNUM' || (id === 'DECIMAL' && width > DOUBLE_DIGITS)
}

const isConstant = (expression: PlanNode): boolean =>
  withSubexpressions(expression).every((one) => one.expression_class !== 'BOUND_REF')

/** Whether an expression over these columns is floating point computed from exact numbers. */
export function isRounded(expression: PlanNode, inputs: RoundedColumns): boolean {
  if (!FLOAT.test(typeOf(expression).id)) return false
  if (expression.expression_class === 'BOUND_REF')
    return inputs.columns?.[Number(expression.index)] ?? inputs.hasRounded
  const isAggregate = /^BOUND_(AGGREGATE|WINDOW)$/.test(String(expression.expression_class))
  if (isAggregate && STATISTIC.test(String(expression.name))) return false
  return childExpressions(expression).some(
    (one) => (isExact(one) && !isConstant(one)) || isRounded(one, inputs),
  )
}

/** Columns of common table expressions, by the index that references use. */
export type CteColumns = Map<unknown, RoundedColumns>

/** The columns of an operator, given those of its children. */
export function roundedColumns(
  operator: PlanNode,
  children: readonly RoundedColumns[],
  tables: CteColumns,
): RoundedColumns {
  const input = concatColumns(children)
  const fromExpressions = (list: unknown) =>
    columnsOf(childExpressions(list).map((one) => isRounded(one, input)))
  switch (operator.type) {
    case 'LOGICAL_PROJECTION':
      return fromExpressions(operator.expressions)
    case 'LOGICAL_AGGREGATE_AND_GROUP_BY':
      return concatColumns([fromExpressions(operator.groups), fromExpressions(operator.expressions)])
    case 'LOGICAL_WINDOW':
    case 'LOGICAL_UNNEST':
      return concatColumns([...children, fromExpressions(operator.expressions)])
    case 'LOGICAL_CTE_REF':
      return tables.get(operator.cte_index) ?? UNKNOWN
    case 'LOGICAL_MATERIALIZED_CTE':
      return children.at(-1) ?? UNKNOWN
    case 'LOGICAL_UNION':
    case 'LOGICAL_INTERSECT':
    case 'LOGICAL_EXCEPT':
    case 'LOGICAL_RECURSIVE_CTE':
      return unionColumns(children)
    case 'LOGICAL_GET':
      return columnsOf(Array.isArray(operator.column_indexes) ? operator.column_indexes.map(() => false) : [])
    default:
      if (children.length === 0) return UNKNOWN
      // A MARK join adds a column that says whether the row has a match.
      return operator.join_type === 'MARK'
        ? concatColumns([...children.slice(0, 1), columnsOf([false])])
        : input
  }
}

const UNKNOWN: RoundedColumns = { columns: undefined, hasRounded: true }

const columnsOf = (columns: readonly boolean[]): RoundedColumns => ({
  columns,
  hasRounded: columns.includes(true),
})

/** Concatenates the columns of several operators. */
export function concatColumns(all: readonly RoundedColumns[]): RoundedColumns {
  const columns = all.every((one) => one.columns !== undefined)
    ? all.flatMap((one) => one.columns ?? [])
    : undefined
  return { columns, hasRounded: all.some(({ hasRounded }) => hasRounded) }
}

function unionColumns(all: readonly RoundedColumns[]): RoundedColumns {
  const first = all[0]?.columns
  return {
    columns: first?.map((_, at) => all.some(({ columns, hasRounded }) => columns?.[at] ?? hasRounded)),
    hasRounded: all.some(({ hasRounded }) => hasRounded),
  }
}
