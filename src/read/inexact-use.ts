import {
  childExpressions,
  childOperators,
  constantText,
  isNode,
  type PlanNode,
  typeOf,
  withSubexpressions,
} from './query-plan.ts'
import {
  type CteColumns,
  concatColumns,
  isRounded,
  type RoundedColumns,
  roundedColumns,
} from './rounded-columns.ts'
import { comparesRounded } from './rounded-functions.ts'

/**
 * An operation of a statement that silently loses precision. `rounded`: it compares, sorts, groups or joins
 * by floating point computed from exact numbers. `text`: it casts text to a number type that would round it.
 * `cast`: it casts a text column to integers, which truncates digits after the decimal point.
 */
export type InexactUse = { kind: 'rounded' } | { kind: 'text'; text: string; type: string } | { kind: 'cast' }

/** The first inexact use in an unoptimized plan; undefined if there is none. */
export function findInexactUse(plan: PlanNode): InexactUse | undefined {
  return analyze(plan, new Map()).use
}

type Analysis = { rounded: RoundedColumns; use: InexactUse | undefined }

function analyze(operator: PlanNode, tables: CteColumns): Analysis {
  const children: Analysis[] = []
  for (const child of childOperators(operator)) {
    const analysis = analyze(child, tables)
    // The first child of a common table expression produces its rows, the second one reads them.
    if (children.length === 0 && /CTE$/.test(String(operator.type)))
      tables.set(operator.table_index, analysis.rounded)
    children.push(analysis)
  }
  const inputs = children.map(({ rounded }) => rounded)
  const rounded = roundedColumns(operator, inputs, tables)
  const use = children.find((one) => one.use !== undefined)?.use ?? inexactUseIn(operator, inputs)
  return { rounded, use }
}

function inexactUseIn(operator: PlanNode, children: readonly RoundedColumns[]): InexactUse | undefined {
  const { children: _, conditions, ...own } = operator
  const [inputs, right] = [concatColumns(children), children.at(-1) ?? concatColumns([])]
  const expressions = childExpressions(own).flatMap(withSubexpressions)
  const sides = Array.isArray(conditions) ? conditions.filter(isNode) : []
  const isUsed =
    sortAndGroupKeys(operator).some((key) => isRounded(key, inputs)) ||
    expressions.some((one) => comparedExpressions(one).some((part) => isRounded(part, inputs))) ||
    expressions.some((one) => comparesRounded(one, (part) => isRounded(part, inputs))) ||
    sides.some((one) => isRoundedSide(one.left, children[0]) || isRoundedSide(one.right, right)) ||
    (comparesRows(operator) &&
      children.some(({ columns, hasRounded }) => columns?.includes(true) ?? hasRounded))
  if (isUsed) return { kind: 'rounded' }
  const all = [...expressions, ...childExpressions(conditions).flatMap(withSubexpressions)]
  return all.map(lossyCast).find((use) => use !== undefined)
}

/** Whether an operator compares whole rows: UNION has a separate operator that removes duplicates. */
const comparesRows = ({ type, union_all: keepsDuplicates }: PlanNode): boolean =>
  /_(INTERSECT|EXCEPT)$/.test(String(type)) || (type === 'LOGICAL_RECURSIVE_CTE' && keepsDuplicates !== true)

const isRoundedSide = (side: unknown, inputs: RoundedColumns | undefined): boolean =>
  isNode(side) && inputs !== undefined && isRounded(side, inputs)

/** Expressions that an operator sorts or groups by. */
function sortAndGroupKeys(operator: PlanNode): PlanNode[] {
  const groups = operator.type === 'LOGICAL_AGGREGATE_AND_GROUP_BY' ? operator.groups : undefined
  return [operator.orders, operator.distinct_targets, groups].flatMap(childExpressions)
}

/** Expressions that an expression compares, sorts or groups by. */
function comparedExpressions(expression: PlanNode): PlanNode[] {
  const { expression_class: kind, type, order_bys: orders, partitions } = expression
  const isCompared =
    /^BOUND_(COMPARISON|BETWEEN)$/.test(String(kind)) ||
    /^COMPARE_/.test(String(type)) ||
    expression.aggregate_type === 'DISTINCT'
  return isCompared
    ? childExpressions(expression)
    : [orders, expression.orders, partitions].flatMap((keys) => childExpressions(keys))
}

const INTEGER = /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|BIGNUM)$/

/** A cast of text that DuckDB would round. A TRY_CAST is explicit and therefore allowed. */
function lossyCast(expression: PlanNode): InexactUse | undefined {
  const { expression_class: kind, child, try_cast: isTryCast } = expression
  if (kind !== 'BOUND_CAST' || isTryCast === true || !isNode(child) || typeOf(child).id !== 'VARCHAR')
    return undefined
  const { id, scale } = typeOf(expression)
  const text = constantText(child)
  if (text === undefined)
    return id === 'BIGNUM' && child.expression_class !== 'BOUND_CONSTANT' ? { kind: 'cast' } : undefined
  if (INTEGER.test(id) ? fitsScale(text, 0) : id !== 'DECIMAL' || fitsScale(text, scale)) return undefined
  return { kind: 'text', text, type: id === 'DECIMAL' ? `DECIMAL with ${scale} digits after the point` : id }
}

/**
 * Whether the text is a plain number with at most `scale` digits after the decimal point. Text that is not a
 * number also passes: its cast fails anyway.
 */
function fitsScale(text: string, scale: number): boolean {
  const [, , fraction = '', exponent] = /^\s*[+-]?(\d*)\.?(\d*)(?:(e)[+-]?\d+)?\s*$/i.exec(text) ?? []
  return exponent === undefined && fraction.replace(/0+$/, '').length <= scale
}
