import type { Movement } from '../movement.ts'
import { withoutParameters } from '../names/names.ts'
import { aave } from './aave.ts'
import { airdrops } from './airdrops.ts'
import { compound } from './compound.ts'
import { curve } from './curve.ts'
import { ens } from './ens.ts'
import { lido } from './lido.ts'
import { merkl } from './merkl.ts'
import { pools } from './pools.ts'
import type { MethodRule, Protocol } from './protocol.ts'
import { rocketPool } from './rocket-pool.ts'
import { uniswapV3 } from './uniswap-v3.ts'
import { uniswapV4 } from './uniswap-v4.ts'

/** All protocols. Rules with contracts precede those for any contract. */
export const PROTOCOLS: readonly Protocol[] = [
  lido,
  rocketPool,
  aave,
  compound,
  uniswapV3,
  uniswapV4,
  curve,
  merkl,
  ens,
  airdrops,
  pools,
]

/** The rules of one method by its name in lower case, and those of the beginnings of names, in the order of the protocols. */
const byName = new Map<string, MethodRule[]>()
const byPrefix: { prefix: string; rule: MethodRule }[] = []
for (const rule of PROTOCOLS.flatMap(({ methods }) => methods)) {
  const name = rule.method.toLowerCase()
  if (name.endsWith('*')) byPrefix.push({ prefix: name.slice(0, -1), rule })
  else byName.set(name, [...(byName.get(name) ?? []), rule])
}

/** The beginning of a method that may have a rule. Most methods have none. */
const MAY_HAVE_RULE = new RegExp(
  `^\\s*(?:${[...byName.keys(), ...byPrefix.map(({ prefix }) => prefix)].join('|')})`,
  'i',
)

/** Finds what a wallet's transaction is for; undefined if no rule says so for certain. */
export function ruleOf(movements: readonly Movement[]): MethodRule | undefined {
  const method = movements[0]?.method
  if (method == null || !MAY_HAVE_RULE.test(method)) return undefined
  const name = withoutParameters(method).toLowerCase()
  const isMeant = (rule: MethodRule) =>
    rule.contracts === undefined || movements.some((movement) => isWith(movement, rule))
  return (
    byName.get(name)?.find(isMeant) ??
    byPrefix.find(({ prefix, rule }) => name.startsWith(prefix) && isMeant(rule))?.rule
  )
}

/** Whether a movement is with a contract of a rule, or of its token. */
export function isWith({ chain, counterparty, asset }: Movement, { contracts }: MethodRule): boolean {
  const ofChain = contracts?.[chain] ?? []
  return ofChain.some((contract) => contract === counterparty || contract === asset.address)
}
