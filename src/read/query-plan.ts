/** A node of a statement's plan, as returned by DuckDB's `json_serialize_plan`. */
export type PlanNode = Readonly<Record<string, unknown>>

export const isNode = (value: unknown): value is PlanNode =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const nodesIn = (value: unknown): PlanNode[] => (Array.isArray(value) ? value.filter(isNode) : [])

/** The plans in a result of `json_serialize_plan`; undefined if it reports an error. */
export function parsePlans(result: unknown): PlanNode[] | undefined {
  return isNode(result) && result.error === false ? nodesIn(result.plans) : undefined
}

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

/** The type of an expression; `width` and `scale` are those of a DECIMAL. */
export function typeOf({ return_type: returned, value }: PlanNode): {
  id: string
  width: number
  scale: number
} {
  const type = isNode(returned) ? returned : isNode(value) && isNode(value.type) ? value.type : {}
  const info = isNode(type.type_info) ? type.type_info : {}
  return { id: String(type.id), width: Number(info.width ?? 0), scale: Number(info.scale ?? 0) }
}

/** The text of a VARCHAR constant; undefined for other expressions. */
export function constantText(expression: PlanNode): string | undefined {
  const { value } = expression
  return isNode(value) && typeof value.value === 'string' && typeOf(expression).id === 'VARCHAR'
    ? value.value
    : undefined
}
