import { expressionsIn, type PlanNode, typeOf, withInner } from './query-plan.ts'

/**
 * Which columns of an operator are floating point made of exact numbers. `columns` is undefined where their order is
 * not known; each of them may then be such, if `any` is.
 */
export type Rounded = { columns: readonly boolean[] | undefined; any: boolean }

/** Statistics are approximate by nature, so people may sort by them and compare them. */
const STATISTIC =
  /^(avg|mean|favg|geomean|geometric_mean|median|mad|mode|quantile.*|approx_.*|reservoir_.*|std.*|var.*|sem|covar.*|corr|regr_.*|skewness|kurtosis.*|entropy|product)$/

const FLOAT = /^(DOUBLE|FLOAT)$/
/** Digits that a DOUBLE holds exactly. */
const DOUBLE_DIGITS = 15

function isExact(expression: PlanNode): boolean {
  const { id, width } = typeOf(expression)
  return id === 'BIGNUM' || (id === 'DECIMAL' && width > DOUBLE_DIGITS)
}

const isConstant = (expression: PlanNode): boolean =>
  withInner(expression).every((one) => one.expression_class !== 'BOUND_REF')

/** Whether an expression over these columns is floating point that was made of exact numbers. */
export function isRounded(expression: PlanNode, inputs: Rounded): boolean {
  if (!FLOAT.test(typeOf(expression).id)) return false
  if (expression.expression_class === 'BOUND_REF')
    return inputs.columns?.[Number(expression.index)] ?? inputs.any
  const isAggregate = /^BOUND_(AGGREGATE|WINDOW)$/.test(String(expression.expression_class))
  if (isAggregate && STATISTIC.test(String(expression.name))) return false
  return expressionsIn(expression).some((one) => (isExact(one) && !isConstant(one)) || isRounded(one, inputs))
}

/** Columns of the common table expressions, by the index that references have. */
export type Tables = Map<unknown, Rounded>

/** The columns of an operator over those of the operators below it. */
export function roundedColumns(operator: PlanNode, below: readonly Rounded[], tables: Tables): Rounded {
  const input = joined(below)
  const made = (list: unknown) => columnsOf(expressionsIn(list).map((one) => isRounded(one, input)))
  switch (operator.type) {
    case 'LOGICAL_PROJECTION':
      return made(operator.expressions)
    case 'LOGICAL_AGGREGATE_AND_GROUP_BY':
      return joined([made(operator.groups), made(operator.expressions)])
    case 'LOGICAL_WINDOW':
    case 'LOGICAL_UNNEST':
      return joined([...below, made(operator.expressions)])
    case 'LOGICAL_CTE_REF':
      return tables.get(operator.cte_index) ?? UNKNOWN
    case 'LOGICAL_MATERIALIZED_CTE':
      return below.at(-1) ?? UNKNOWN
    case 'LOGICAL_UNION':
    case 'LOGICAL_INTERSECT':
    case 'LOGICAL_EXCEPT':
    case 'LOGICAL_RECURSIVE_CTE':
      return united(below)
    case 'LOGICAL_GET':
      return columnsOf(Array.isArray(operator.column_indexes) ? operator.column_indexes.map(() => false) : [])
    default:
      if (below.length === 0) return UNKNOWN
      // Such a join adds whether a row has a match.
      return operator.join_type === 'MARK' ? joined([...below.slice(0, 1), columnsOf([false])]) : input
  }
}

const UNKNOWN: Rounded = { columns: undefined, any: true }

const columnsOf = (columns: readonly boolean[]): Rounded => ({ columns, any: columns.includes(true) })

/** The columns of several operators beside each other. */
export function joined(all: readonly Rounded[]): Rounded {
  const columns = all.every((one) => one.columns !== undefined)
    ? all.flatMap((one) => one.columns ?? [])
    : undefined
  return { columns, any: all.some(({ any }) => any) }
}

function united(all: readonly Rounded[]): Rounded {
  const first = all[0]?.columns
  return {
    columns: first?.map((_, at) => all.some(({ columns, any }) => columns?.[at] ?? any)),
    any: all.some(({ any }) => any),
  }
}
