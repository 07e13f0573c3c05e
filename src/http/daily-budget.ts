import { ExportError } from '../core/model/errors.ts'
import { endOfUtcDay, formatMinuteCeil, utcDay } from '../core/model/utc.ts'

/** The compute units that may be used per UTC day. */
export type DailyBudget = {
  /** Counts units that are about to be used. Throws BUDGET_REACHED, and counts nothing, if they exceed what is left. */
  count(units: number): void
}

export type DailyBudgetOptions = {
  /** @default unlimited */
  perDay: number | undefined
  /** Units that were used earlier on this day. */
  used: number
  /** Time in milliseconds since 1970. @default Date.now */
  now?: () => number
}

/** Opens the budget of a command. It is renewed when the UTC day ends. */
export function openDailyBudget({ perDay, used, now = Date.now }: DailyBudgetOptions): DailyBudget {
  let [day, usedToday] = [utcDay(now()), used]
  return {
    count: (units) => {
      if (perDay === undefined) return
      const nowMs = now()
      if (utcDay(nowMs) !== day) [day, usedToday] = [utcDay(nowMs), 0]
      if (usedToday + units > perDay) throw budgetReached(perDay, nowMs)
      usedToday += units
    },
  }
}

/** The error for a day whose budget is used up. */
function budgetReached(perDay: number, nowMs: number): ExportError {
  const end = formatMinuteCeil(endOfUtcDay(nowMs))
  return new ExportError(
    'BUDGET_REACHED',
    `the budget of ${perDay} compute units a day is used up until ${end}`,
    {
      fix: `Run the same command again after ${end}: it resumes where it stopped.`,
    },
  )
}
