import { childExpressions, type PlanNode, typeOf, typesIn, withSubexpressions } from './query-plan.ts'
import { CONTAINER_FUNCTION, FLOAT, STATISTIC } from './rounded-functions.ts'

/**
 * Which columns of an operator are, or contain, floating point computed from exact numbers. `columns` is undefined if
 * their order is unknown; any column may then be rounded if `hasRounded` is true.
 */
export type RoundedColumns = { columns: readonly boolean[] | undefined; hasRounded: boolean }

/** Digits that a DOUBLE represents exactly. */
const DOUBLE_DIGITS = 15
const WIDE_INTEGER = /^U?(BIG|HUGE)INT$/
/** Functions and aggregates whose integers have all digits of their arguments. */
const EXACT_INTEGER = /^(\+|-|\*|\/\/|%|abs|sum|sum_no_overflow|min|max|first|last|any_value)$/

/** Whether an expression is, or contains, numbers with more digits than floating point represents. */
function isExact(expression: PlanNode): boolean {
  if (
    typesIn(expression).some(
      ({ id, width }) => id === 'BIGNUM' || (id === 'DECIMAL' && width > DOUBLE_DIGITS),
    )
  )
    return true
  const isCast = expression.expression_class === 'BOUND_CAST'
  const keepsDigits = isCast || EXACT_INTEGER.test(String(expression.name))
  return keepsDigits && WIDE_INTEGER.test(typeOf(expression).id) && childExpressions(expression).some(isExact)
}

const isConstant = (expression: PlanNode): boolean =>
  withSubexpressions(expression).every((one) => one.expression_class !== 'BOUND_REF')

/** Whether an expression over these columns is, or contains, floating point computed from exact numbers. */
export function isRounded(expression: PlanNode, inputs: RoundedColumns): boolean {
  if (!typesIn(expression).some(({ id }) => FLOAT.test(id))) return false
  const { expression_class: kind } = expression
  if (kind === 'BOUND_REF') return inputs.columns?.[Number(expression.index)] ?? inputs.hasRounded
  const name = String(expression.name)
  if (/^BOUND_(AGGREGATE|WINDOW)$/.test(String(kind)) && STATISTIC.test(name)) return false
  const computes = kind !== 'BOUND_UNNEST' && !CONTAINER_FUNCTION.test(name)
  return childExpressions(expression).some(
    (one) => (computes && isExact(one) && !isConstant(one)) || isRounded(one, inputs),
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
      // A table function of columns, such as json_each.
      if (children.length > 0) return UNKNOWN
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
