/** JSON texts that are nested too deeply for recursive parsers. */
export const TOO_DEEP_JSON = [5_000, 200_000].flatMap((levels) => [
  { what: `${levels} lists`, text: '['.repeat(levels) + ']'.repeat(levels) },
  { what: `${levels} objects`, text: `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}` },
])

/** JSON texts at the maximum nesting depth allowed within a page or a manifest. */
export const NESTED_JSON = [
  { what: '80 lists', text: '['.repeat(80) + ']'.repeat(80) },
  { what: '80 objects', text: `${'{"a":'.repeat(80)}1${'}'.repeat(80)}` },
]
