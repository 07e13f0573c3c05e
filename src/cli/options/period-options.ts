import { daysOfYear } from '../../accounting/statement/statement-period.ts'
import { defineOptions } from '../command.ts'

/** Limits of a period of time. */
export const periodOptions = defineOptions([
  { name: 'year', value: '<year>', description: 'UTC year', conflicts: ['from', 'until'] },
  { name: 'from', value: '<date>', description: 'Start at this UTC day or instant' },
  { name: 'until', value: '<date>', description: 'Stop at the end of this UTC day, or at this instant' },
])

type PeriodArguments = { year?: string; from?: string; until?: string }

/** Replaces a year by its first and last day. Throws USAGE if it is no year. */
export function resolveYear<T extends PeriodArguments>({ year, ...args }: T) {
  return year === undefined ? args : { ...args, ...daysOfYear(year) }
}
