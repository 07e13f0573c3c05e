/**
 * What `ratelimit-remaining` allows. A service that says what is left need never refuse: no more requests are in
 * flight than were left when it last said so, and what it was seen to give back since.
 */
export type Allowance = {
  /** Number and time of departure of the newest request whose answer said what was left; undefined: none did. */
  newest: Statement | undefined
  /** What came back lately and in how long (ms), old observations fading. */
  returned: number
  observedMs: number
}

type Statement = { nth: number; at: number; remaining: number }

/** Observations fade over this time, so that another client of the same quota is noticed. */
const FADE_MS = 1_000

export function newAllowance(): Allowance {
  return { newest: undefined, returned: 0, observedMs: 0 }
}

/** Takes note of an answer. Answers overtake each other: only what a later request says is news. */
export function noteRemaining(allowance: Allowance, said: Statement): void {
  const last = allowance.newest
  if (last !== undefined && said.nth <= last.nth) return
  allowance.newest = said
  if (last === undefined) return
  const elapsed = said.at - last.at
  const sent = said.nth - last.nth
  const kept = Math.exp(-elapsed / FADE_MS)
  // A window that begins anew gives everything back at once, which says nothing of a rate: never more than was sent.
  const returned = Math.min(sent, Math.max(0, said.remaining - last.remaining + sent))
  allowance.returned = allowance.returned * kept + returned
  allowance.observedMs = allowance.observedMs * kept + elapsed
}

/** When the `nth` request may leave by what the service said; Infinity where only another answer can tell. */
export function allowedAt({ newest, returned, observedMs }: Allowance, nth: number): number {
  if (newest === undefined) return Number.NEGATIVE_INFINITY
  const lacking = nth - newest.nth - newest.remaining
  if (lacking <= 0) return Number.NEGATIVE_INFINITY
  return returned > 0 ? newest.at + (lacking * observedMs) / returned : Number.POSITIVE_INFINITY
}
