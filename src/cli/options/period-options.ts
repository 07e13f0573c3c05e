import { defineOptions } from '../command.ts'

/** Limits of a period of time. */
export const periodOptions = defineOptions([
  { name: 'from', value: '<date>', description: 'Start at this UTC day or instant' },
  { name: 'until', value: '<date>', description: 'Stop at the end of this UTC day, or at this instant' },
])
