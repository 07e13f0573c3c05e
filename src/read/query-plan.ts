/** A node of a statement's plan, as returned by DuckDB's `json_serialize_plan`. */
export type PlanNode = Readonly<Record<string, unknown>>

export const isNode = (value: unknown): value is PlanNode =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const nodesIn = (value: unknown): PlanNode[] => (Array.isArray(value) ? value.filter(isNode) : [])

/**
 * The plans in a result of `json_serialize_plan`. Throws an Error with DuckDB's message if it reports an error.
 * DuckDB writes numbers that JSON does not have, such as `Infinity`; they become null.
 */
export function parsePlans(json: string): PlanNode[] {
  const result: unknown = JSON.parse(
    json.replace(STRING_OR_NOT_FINITE, (found) => (found.startsWith('"') ? found : 'null')),
  )
  if (isNode(result) && result.error === false) return nodesIn(result.plans)
  throw new Error(String(isNode(result) ? result.error_message : result))
}

const STRING_OR_NOT_FINITE = /"(?:[^"\\]|\\.)*"|-?\b(?:inf(?:inity)?|nan)\b/gi

export const childOperators = ({ children }: PlanNode): PlanNode[] => nodesIn(children)

/** The topmost expressions inside a value, at any depth, excluding `value` itself. */
export function childExpressions(value: unknown): PlanNode[] {
  const inside = Array.isArray(value) ? value : isNode(value) ? Object.values(value) : []
  return inside.flatMap((one) =>
    isNode(one) && 'expression_class' in one
      ? [one]
      : isNode(one) || Array.isArray(one)
        ? childExpressions(one)
        : [],
  )
}

/** An expression and all its subexpressions. */
export const withSubexpressions = (expression: PlanNode): PlanNode[] => [
  expression,
  ...childExpressions(expression).flatMap(withSubexpressions),
]

/** The type of an expression as the plan describes it. Comparisons have none. */
export function returnType({ return_type: returned, value }: PlanNode): PlanNode {
  return isNode(returned) ? returned : isNode(value) && isNode(value.type) ? value.type : {}
}

export type ValueType = { id: string; width: number; scale: number }

/** The type of an expression; `width` and `scale` are those of a DECIMAL. */
export const typeOf = (expression: PlanNode): ValueType => toValueType(returnType(expression))

function toValueType(type: PlanNode): ValueType {
  const info = isNode(type.type_info) ? type.type_info : {}
  return { id: String(type.id), width: Number(info.width ?? 0), scale: Number(info.scale ?? 0) }
}

/** The type of an expression, and the types of its elements at any depth if it is a list, struct or map. */
export const typesIn = (expression: PlanNode): ValueType[] => nestedTypes(returnType(expression))

function nestedTypes(value: unknown): ValueType[] {
  if (Array.isArray(value)) return value.flatMap(nestedTypes)
  if (!isNode(value)) return []
  const own = typeof value.id === 'string' ? [toValueType(value)] : []
  return [...own, ...Object.values(value).flatMap(nestedTypes)]
}

/** The text of a VARCHAR constant; undefined for other expressions. */
export function constantText(expression: PlanNode): string | undefined {
  const { value } = expression
  return isNode(value) && typeof value.value === 'string' && typeOf(expression).id === 'VARCHAR'
    ? value.value
    : undefined
}
