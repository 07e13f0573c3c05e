import { ORDER_KEY } from './exact-amounts.ts'
import {
  childExpressions,
  childOperators,
  isNode,
  type PlanNode,
  returnType,
  withSubexpressions,
} from './query-plan.ts'

/** Aggregates and window functions that return such values unchanged, or count them. */
const AGGREGATES = new Set([
  'any_value',
  'arbitrary',
  'first',
  'last',
  'min',
  'max',
  'mode',
  'list',
  'array_agg',
  'arg_min',
  'arg_max',
  'min_by',
  'max_by',
  'arg_min_null',
  'arg_max_null',
  'count',
  'approx_count_distinct',
])
const WINDOW_FUNCTION = /^WINDOW_(FIRST_VALUE|LAST_VALUE|NTH_VALUE|LAG|LEAD)$/
/** Functions that return such values unchanged, or build and read lists and structs of them. */
const FUNCTIONS = new Set([
  'greatest',
  'least',
  'struct_pack',
  'row',
  'list_value',
  'unpivot_list',
  'array_extract',
  'list_extract',
  'list_element',
  'array_slice',
  'list_slice',
  'list_sort',
  'array_sort',
  'list_reverse_sort',
  'array_reverse_sort',
  'contains',
  'list_contains',
  'array_contains',
  'list_has',
  'array_has',
])
const OPERATOR = /^(COMPARE_(NOT_)?IN|OPERATOR_(IS_(NOT_)?NULL|COALESCE|TRY))$/

/**
 * Whether a plan uses a decimal of the type `ordered` (`DecimalType`) for anything but sorting, grouping,
 * comparing and returning it. DuckDB would compute with the struct that represents it, or print that struct.
 */
export function misusesOrderedDecimals(plan: PlanNode): boolean {
  const { children: _, ...own } = plan
  return (
    childExpressions(own).flatMap(withSubexpressions).some(isMisuse) ||
    childOperators(plan).some(misusesOrderedDecimals)
  )
}

function isMisuse(expression: PlanNode): boolean {
  const { expression_class: kind, type, name, child } = expression
  switch (kind) {
    case 'BOUND_REF':
    case 'BOUND_CONSTANT':
    case 'BOUND_COMPARISON':
    case 'BOUND_BETWEEN':
    case 'BOUND_CASE':
    case 'BOUND_UNNEST':
      return false
    case 'BOUND_CAST':
      // A cast from another type would build the struct from text.
      return holdsOrdered(child) || (returnsOrdered(expression) && returnTypeId(child) !== 'NULL')
    case 'BOUND_OPERATOR':
      return !OPERATOR.test(String(type)) && childExpressions(expression).some(holdsOrdered)
    case 'BOUND_AGGREGATE':
      return !AGGREGATES.has(String(name)) && hasOrderedArgument(expression)
    case 'BOUND_WINDOW':
      return (
        !WINDOW_FUNCTION.test(String(type)) &&
        !(type === 'WINDOW_AGGREGATE' && AGGREGATES.has(String(name))) &&
        hasOrderedArgument(expression)
      )
    case 'BOUND_FUNCTION':
      return !isAllowedFunction(expression) && hasOrderedArgument(expression)
    default:
      return childExpressions(expression).some(holdsOrdered)
  }
}

/** A field of a user's struct may be read, but not a field of the struct that represents a decimal. */
function isAllowedFunction(expression: PlanNode): boolean {
  const name = String(expression.name)
  return name === 'struct_extract'
    ? !childExpressions(expression.children).some((one) => isOrdered(returnType(one)))
    : FUNCTIONS.has(name)
}

/** Sort keys and filters of aggregates are not arguments. */
const hasOrderedArgument = ({ children }: PlanNode) => childExpressions(children).some(holdsOrdered)

const returnsOrdered = (expression: PlanNode) => containsOrdered(returnType(expression))
const holdsOrdered = (value: unknown) => isNode(value) && returnsOrdered(value)
const returnTypeId = (value: unknown) => (isNode(value) ? returnType(value).id : undefined)

/** Whether a type is the struct, or a list, struct or map that contains it at any depth. */
function containsOrdered(type: unknown): boolean {
  if (Array.isArray(type)) return type.some(containsOrdered)
  return isNode(type) && (isOrdered(type) || Object.values(type).some(containsOrdered))
}

function isOrdered({ id, type_info: info }: PlanNode): boolean {
  const [field] = isNode(info) && Array.isArray(info.child_types) ? info.child_types : []
  return id === 'STRUCT' && isNode(field) && field.first === ORDER_KEY
}
