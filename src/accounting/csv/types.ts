import type { LegSide } from '../import-rows.ts'
import type { Preset } from './preset.ts'

/** Types of a program that labels may give. */
export type ProgramTypes = {
  sides: TypeSides
  /** Any other text is a type as well, and takes any legs. */
  acceptsAnyText: boolean
  /** Whether lines between own wallets may have a label. */
  labelsOwnTransfers: boolean
}

/** The legs that each type of a program can have. */
export type TypeSides = ReadonlyMap<string, ReadonlySet<LegSide>>

const typeSidesCache = new WeakMap<Preset, TypeSides>()

/** The types that the preset names, with the legs that each of them takes. */
export function typeSides(preset: Preset): TypeSides {
  const sides = typeSidesCache.get(preset) ?? collectSides(preset)
  typeSidesCache.set(preset, sides)
  return sides
}

function collectSides({ types, labels, supportsSwaps }: Preset): TypeSides {
  const own: [leg: LegSide, type: string | undefined][] = [
    ['in', types.in],
    ['in', types.ownIn],
    ['out', types.out],
    ['out', types.ownOut],
    ['out', types.fee],
    ['swap', supportsSwaps ? types.swap : undefined],
  ]
  const sides = new Map<string, Set<LegSide>>()
  const add = (side: LegSide, type: string) => sides.set(type, (sides.get(type) ?? new Set()).add(side))
  for (const [side, type] of own) if (type !== undefined) add(side, type)
  for (const side of LEG_SIDES) for (const type of labels?.[side] ?? []) add(side, type)
  return sides
}

const LEG_SIDES = ['in', 'out', 'swap'] as const

/** What labels may give to lines of a program's files. */
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

/** What a line of these legs holds, in words. */
export function describeSides(sides: ReadonlySet<LegSide>): string {
  return [...sides].map((side) => SIDE_TEXT[side]).join(' or ')
}

const SIDE_TEXT: Readonly<Record<LegSide, string>> = {
  in: 'a received amount alone',
  out: 'a sent amount alone',
  swap: 'both a received and a sent amount',
}
