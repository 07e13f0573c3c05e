import { childExpressions, type PlanNode, typeOf } from './query-plan.ts'

export const FLOAT = /^(DOUBLE|FLOAT)$/

/** Aggregates that are approximate by nature: statements may sort by them and compare them. */
export const STATISTIC =
  /^(avg|mean|favg|geomean|geometric_mean|median|mad|quantile.*|approx_quantile|reservoir_quantile|std.*|var.*|sem|covar.*|corr|regr_.*|skewness|kurtosis.*|product)$/

/** Functions and aggregates that build, take apart or return values without comparing or computing with them. */
export const CONTAINER_FUNCTION =
  /^(struct_(pack|insert|update|concat|extract|extract_at)|row|map_values|((list|array)_(value|pack|concat|cat|append|prepend|push_back|push_front|extract|element|slice|reverse|resize))|list|array_agg|array_cat|flatten|first|last|any_value|arbitrary)$/

/** Further functions that do not compare their arguments. */
const TEXT_FUNCTION = /^(\|\||concat|concat_ws|format|printf|to_json|json_array|json_object|typeof)$/
const NUMBER_FUNCTION = /^(len|length|array_length|isnan|isinf|isfinite)$/

/** Aggregates whose floating point result is as exact as their arguments. */
const SUM = /^(sum|sum_no_overflow|fsum|sumkahan|kahan_sum|min|max|count)$/
/** Aggregates that select a value by comparing another one, the second argument. */
const ARG_MIN_MAX = /^((arg_?(min|max))(_null|_nulls_last)?|(min|max)_by)$/
const WINDOW_FUNCTION = /^WINDOW_(FIRST_VALUE|LAST_VALUE|NTH_VALUE|LAG|LEAD)$/

/**
 * Arguments of a function or aggregate that it may compare; all arguments of an unknown one that does not
 * simply compute floating point from them.
 *
 * @param isRounded whether an argument is, or contains, rounded numbers
 */
export function comparesRounded(expression: PlanNode, isRounded: (argument: PlanNode) => boolean): boolean {
  const rounded = childExpressions(expression.children).map(isRounded)
  if (!rounded.includes(true)) return false
  const name = String(expression.name)
  const isComputed = FLOAT.test(typeOf(expression).id) && areNumbers(expression, rounded)
  switch (expression.expression_class) {
    case 'BOUND_FUNCTION':
      if (name === 'map') return rounded[0] === true
      return (
        !isComputed && ![CONTAINER_FUNCTION, TEXT_FUNCTION, NUMBER_FUNCTION].some((one) => one.test(name))
      )
    case 'BOUND_WINDOW':
      if (WINDOW_FUNCTION.test(String(expression.type))) return false
      return aggregateCompares(name, { rounded, isComputed })
    case 'BOUND_AGGREGATE':
      return aggregateCompares(name, { rounded, isComputed })
    default:
      return false
  }
}

type Arguments = { rounded: readonly boolean[]; isComputed: boolean }

function aggregateCompares(name: string, { rounded, isComputed }: Arguments): boolean {
  if (name === 'count' || STATISTIC.test(name) || CONTAINER_FUNCTION.test(name)) return false
  if (ARG_MIN_MAX.test(name)) return rounded.slice(1).includes(true)
  return !(SUM.test(name) && isComputed)
}

/** Whether the rounded arguments are numbers, not lists, structs or maps. */
const areNumbers = ({ children }: PlanNode, rounded: readonly boolean[]) =>
  childExpressions(children).every((one, at) => !rounded[at] || FLOAT.test(typeOf(one).id))
