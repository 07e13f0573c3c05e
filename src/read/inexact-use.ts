import {
  constantText,
  expressionsIn,
  isNode,
  operatorsBelow,
  type PlanNode,
  typeOf,
  withInner,
} from './query-plan.ts'
import { isRounded, joined, type Rounded, roundedColumns, type Tables } from './rounded-columns.ts'

/**
 * What a statement does inexactly without saying so. `rounded`: it compares, sorts, groups or joins by floating point that
 * was made of exact numbers. `text`: it takes text for a number that the text is not, and DuckDB would round it. `cast`: it
 * takes a column of text for whole numbers, and DuckDB would cut off what stands after the point.
 */
export type InexactUse = { kind: 'rounded' } | { kind: 'text'; text: string; type: string } | { kind: 'cast' }

/** The first inexact use in a plan that is not optimized; undefined where there is none. */
export function inexactUse(plan: PlanNode): InexactUse | undefined {
  return lookAt(plan, new Map()).use
}

type Seen = { rounded: Rounded; use: InexactUse | undefined }

function lookAt(operator: PlanNode, tables: Tables): Seen {
  const below: Seen[] = []
  for (const child of operatorsBelow(operator)) {
    const seen = lookAt(child, tables)
    // The first child of a common table expression makes its rows, the second one reads them.
    if (below.length === 0 && /CTE$/.test(String(operator.type)))
      tables.set(operator.table_index, seen.rounded)
    below.push(seen)
  }
  const inputs = below.map(({ rounded }) => rounded)
  const rounded = roundedColumns(operator, inputs, tables)
  const use = below.find((one) => one.use !== undefined)?.use ?? useIn(operator, inputs)
  return { rounded, use }
}

function useIn(operator: PlanNode, below: readonly Rounded[]): InexactUse | undefined {
  const { children: _, conditions, ...own } = operator
  const [inputs, right] = [joined(below), below.at(-1) ?? joined([])]
  const expressions = expressionsIn(own).flatMap(withInner)
  const sides = Array.isArray(conditions) ? conditions.filter(isNode) : []
  const isUsed =
    keysOf(operator).some((key) => isRounded(key, inputs)) ||
    expressions.some((one) => comparedIn(one).some((part) => isRounded(part, inputs))) ||
    sides.some((one) => isSide(one.left, below[0]) || isSide(one.right, right)) ||
    (/_(INTERSECT|EXCEPT)$/.test(String(operator.type)) &&
      below.some(({ columns }) => columns?.includes(true)))
  if (isUsed) return { kind: 'rounded' }
  const all = [...expressions, ...expressionsIn(conditions).flatMap(withInner)]
  return all.map(castUse).find((use) => use !== undefined)
}

const isSide = (side: unknown, inputs: Rounded | undefined): boolean =>
  isNode(side) && inputs !== undefined && isRounded(side, inputs)

/** What an operator sorts or groups by. */
function keysOf(operator: PlanNode): PlanNode[] {
  const groups = operator.type === 'LOGICAL_AGGREGATE_AND_GROUP_BY' ? operator.groups : undefined
  return [operator.orders, operator.distinct_targets, groups].flatMap(expressionsIn)
}

/** What an expression compares, sorts or groups by. */
function comparedIn(expression: PlanNode): PlanNode[] {
  const { expression_class: kind, type, name, order_bys: orders, partitions } = expression
  const isCompared =
    /^BOUND_(COMPARISON|BETWEEN)$/.test(String(kind)) ||
    /^COMPARE_/.test(String(type)) ||
    expression.aggregate_type === 'DISTINCT' ||
    /^(arg_(max|min)|(max|min)_by)/.test(String(name))
  return isCompared
    ? expressionsIn(expression)
    : [orders, expression.orders, partitions].flatMap((keys) => expressionsIn(keys))
}

const INTEGER = /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|BIGNUM)$/

/** A cast of text that DuckDB would round. A TRY_CAST is asked for in so many words. */
function castUse(expression: PlanNode): InexactUse | undefined {
  const { expression_class: kind, child, try_cast: isTried } = expression
  if (kind !== 'BOUND_CAST' || isTried === true || !isNode(child) || typeOf(child).id !== 'VARCHAR')
    return undefined
  const { id, scale } = typeOf(expression)
  const text = constantText(child)
  if (text === undefined)
    return id === 'BIGNUM' && child.expression_class !== 'BOUND_CONSTANT' ? { kind: 'cast' } : undefined
  if (INTEGER.test(id) ? isWhole(text, 0) : id !== 'DECIMAL' || isWhole(text, scale)) return undefined
  return { kind: 'text', text, type: id === 'DECIMAL' ? `DECIMAL with ${scale} digits after the point` : id }
}

/** Whether the text is a plain number with at most so many digits after the point; what is no number fails by itself. */
function isWhole(text: string, scale: number): boolean {
  const [, , fraction = '', exponent] = /^\s*[+-]?(\d*)\.?(\d*)(?:(e)[+-]?\d+)?\s*$/i.exec(text) ?? []
  return exponent === undefined && fraction.replace(/0+$/, '').length <= scale
}
