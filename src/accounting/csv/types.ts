import type { Leg } from '../import-rows.ts'
import type { Preset } from './preset.ts'

/** Types of a program that labels may give. */
export type ProgramTypes = {
  legs: TypeLegs
  /** Any other text is a type as well, and takes any legs. */
  takesAnyText: boolean
  /** Whether lines between own wallets may have a label. */
  labelsOwnTransfers: boolean
}

/** The legs that each type of a program can have. */
export type TypeLegs = ReadonlyMap<string, ReadonlySet<Leg>>

const known = new WeakMap<Preset, TypeLegs>()

/** The types that the preset names, with the legs that each of them takes. */
export function typeLegs(preset: Preset): TypeLegs {
  const legs = known.get(preset) ?? collectLegs(preset)
  known.set(preset, legs)
  return legs
}

function collectLegs({ types, labels, holdsSwaps }: Preset): TypeLegs {
  const own: [leg: Leg, type: string | undefined][] = [
    ['in', types.in],
    ['in', types.ownIn],
    ['out', types.out],
    ['out', types.ownOut],
    ['out', types.fee],
    ['swap', holdsSwaps ? types.swap : undefined],
  ]
  const legs = new Map<string, Set<Leg>>()
  const add = (leg: Leg, type: string) => legs.set(type, (legs.get(type) ?? new Set()).add(leg))
  for (const [leg, type] of own) if (type !== undefined) add(leg, type)
  for (const leg of LEGS) for (const type of labels?.[leg] ?? []) add(leg, type)
  return legs
}

const LEGS = ['in', 'out', 'swap'] as const

/** What labels may give to lines of a program's files. */
export function programTypes(forms: readonly Preset[]): ProgramTypes {
  const legs = new Map<string, ReadonlySet<Leg>>()
  for (const form of forms)
    for (const [type, ofType] of typeLegs(form))
      legs.set(type, new Set([...(legs.get(type) ?? []), ...ofType]))
  return {
    legs,
    takesAnyText: forms.some(({ labels }) => labels === undefined),
    labelsOwnTransfers: forms.every(({ labelsOwnTransfers = true }) => labelsOwnTransfers),
  }
}

/** What a line of these legs holds, in words. */
export function describeLegs(legs: ReadonlySet<Leg>): string {
  return [...legs].map((leg) => LEG_WORDS[leg]).join(' or ')
}

const LEG_WORDS: Readonly<Record<Leg, string>> = {
  in: 'a received amount alone',
  out: 'a sent amount alone',
  swap: 'both a received and a sent amount',
}
