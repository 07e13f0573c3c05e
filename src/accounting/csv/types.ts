import type { LegSide } from '../import-rows.ts'
import { isReceivedMove, POOL_MOVES } from '../pool-moves.ts'
import type { Preset } from './preset.ts'

/** The types of a program that labels may assign. */
export type ProgramTypes = {
  sides: TypeSides
  /** Whether any other text is a valid type too. Such a type applies to rows with any amounts. */
  acceptsAnyText: boolean
  /** Whether transfers between own wallets may have a label. */
  labelsOwnTransfers: boolean
}

/** The sides that each type applies to. */
export type TypeSides = ReadonlyMap<string, ReadonlySet<LegSide>>

const typeSidesCache = new WeakMap<Preset, TypeSides>()

/** Returns the types of a preset with the sides that each applies to. */
export function typeSides(preset: Preset): TypeSides {
  const sides = typeSidesCache.get(preset) ?? collectSides(preset)
  typeSidesCache.set(preset, sides)
  return sides
}

function collectSides({ types, labels, supportsSwaps }: Preset): TypeSides {
  const defaultTypes: (readonly [side: LegSide, type: string | undefined])[] = [
    ['in', types.in],
    ['in', types.ownIn],
    ['in', types.opening],
    ['out', types.out],
    ['out', types.ownOut],
    ['out', types.fee],
    ['swap', supportsSwaps ? types.swap : undefined],
    ['swap', types.wrap],
    ...POOL_MOVES.map((move) => [isReceivedMove(move) ? 'in' : 'out', types.pool?.[move]] as const),
  ]
  const sides = new Map<string, Set<LegSide>>()
  const add = (side: LegSide, type: string) => sides.set(type, (sides.get(type) ?? new Set()).add(side))
  for (const [side, type] of defaultTypes) if (type !== undefined) add(side, type)
  for (const side of LEG_SIDES) for (const type of labels?.[side] ?? []) add(side, type)
  return sides
}

const LEG_SIDES = ['in', 'out', 'swap'] as const

/** Combines the types of all files of a program. */
export function programTypes(presets: readonly Preset[]): ProgramTypes {
  const sides = new Map<string, ReadonlySet<LegSide>>()
  for (const preset of presets)
    for (const [type, sidesOfType] of typeSides(preset))
      sides.set(type, new Set([...(sides.get(type) ?? []), ...sidesOfType]))
  return {
    sides,
    acceptsAnyText: presets.some(({ labels }) => labels === undefined),
    labelsOwnTransfers: presets.every(({ labelsOwnTransfers = true }) => labelsOwnTransfers),
  }
}

/** Describes the amounts of rows with these sides in words. */
export function describeSides(sides: ReadonlySet<LegSide>): string {
  return [...sides].map((side) => SIDE_TEXT[side]).join(' or ')
}

const SIDE_TEXT: Readonly<Record<LegSide, string>> = {
  in: 'a received amount and no sent amount',
  out: 'a sent amount and no received amount',
  swap: 'both a received and a sent amount',
}
