/** JSON texts that are deeper than what calls itself for each level can follow. */
export const DEEP = [5_000, 200_000].flatMap((levels) => [
  { what: `${levels} lists`, text: '['.repeat(levels) + ']'.repeat(levels) },
  { what: `${levels} objects`, text: `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}` },
])
