import type { Movement } from '../movement.ts'
import { withoutParameters } from '../names/names.ts'
import { airdrops } from './airdrops.ts'
import { curve } from './curve.ts'
import { ens } from './ens.ts'
import { lido } from './lido.ts'
import { pools } from './pools.ts'
import type { MethodRule, Protocol } from './protocol.ts'
import { uniswapV3 } from './uniswap-v3.ts'

/** All protocols. Rules with contracts precede those for any contract. */
export const PROTOCOLS: readonly Protocol[] = [lido, uniswapV3, curve, ens, airdrops, pools]

const RULES = PROTOCOLS.flatMap(({ methods }) => methods)

/** The rules of a method, by its text in the ledger. Histories have few different methods. */
const rulesByMethod = new Map<string, readonly MethodRule[]>()
const MAX_METHODS = 10_000

function rulesOfMethod(method: string): readonly MethodRule[] {
  const cached = rulesByMethod.get(method)
  if (cached !== undefined) return cached
  const name = withoutParameters(method).toLowerCase()
  const rules = RULES.filter((rule) => {
    const wanted = rule.method.toLowerCase()
    return wanted.endsWith('*') ? name.startsWith(wanted.slice(0, -1)) : name === wanted
  })
  if (rulesByMethod.size === MAX_METHODS) rulesByMethod.clear()
  rulesByMethod.set(method, rules)
  return rules
}

/** Finds what a wallet's transaction is for; undefined if no rule says so for certain. */
export function ruleOf(movements: readonly Movement[]): MethodRule | undefined {
  const method = movements[0]?.method
  if (method == null) return undefined
  return rulesOfMethod(method).find(
    (rule) => rule.contracts === undefined || movements.some((movement) => isWith(movement, rule)),
  )
}

/** Whether a movement is with a contract of a rule, or of its token. */
export function isWith({ chain, counterparty, asset }: Movement, { contracts }: MethodRule): boolean {
  const ofChain = contracts?.[chain] ?? []
  return ofChain.some((contract) => contract === counterparty || contract === asset.address)
}
