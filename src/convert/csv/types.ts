import type { Line } from '../lines.ts'
import type { Preset } from './preset.ts'

/** All types that a line of the preset may have; undefined where any text is one. */
export function knownTypes({ types, otherTypes }: Preset): ReadonlySet<string> | undefined {
  return otherTypes === undefined ? undefined : new Set([...Object.values(types), ...otherTypes])
}

/** Whether a line may have a type: some say themselves which way something went, and would turn it around. */
export function fitsWay(type: string, { kind }: Line, { types, ways = {} }: Preset): boolean {
  const named = {
    in: [types.in, types.ownIn, ...(ways.in ?? [])],
    out: [types.out, types.ownOut, types.fee, ...(ways.out ?? [])],
    swap: [types.swap, ...(ways.swap ?? [])],
  }
  return (
    named[kind === 'fee' ? 'out' : kind].includes(type) ||
    !Object.values(named).some((list) => list.includes(type))
  )
}
