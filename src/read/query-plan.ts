/** A part of a statement's plan, as DuckDB's `json_serialize_plan` gives it. */
export type PlanNode = Readonly<Record<string, unknown>>

export const isNode = (value: unknown): value is PlanNode =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const nodesIn = (value: unknown): PlanNode[] => (Array.isArray(value) ? value.filter(isNode) : [])

/** The plans of the answer of `json_serialize_plan`; undefined where it has none. */
export function parsePlans(result: unknown): PlanNode[] | undefined {
  return isNode(result) && result.error === false ? nodesIn(result.plans) : undefined
}

export const childOperators = ({ children }: PlanNode): PlanNode[] => nodesIn(children)

/** The nearest expressions below a value, at any depth; `value` itself does not count. */
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

/** An expression and all expressions in it. */
export const withSubexpressions = (expression: PlanNode): PlanNode[] => [
  expression,
  ...childExpressions(expression).flatMap(withSubexpressions),
]

/** The name of an expression's type, with the digits of a DECIMAL. */
export function typeOf({ return_type: returned, value }: PlanNode): {
  id: string
  width: number
  scale: number
} {
  const type = isNode(returned) ? returned : isNode(value) && isNode(value.type) ? value.type : {}
  const info = isNode(type.type_info) ? type.type_info : {}
  return { id: String(type.id), width: Number(info.width ?? 0), scale: Number(info.scale ?? 0) }
}

/** The text of a constant; undefined where the expression is something else. */
export function constantText(expression: PlanNode): string | undefined {
  const { value } = expression
  return isNode(value) && typeof value.value === 'string' && typeOf(expression).id === 'VARCHAR'
    ? value.value
    : undefined
}
