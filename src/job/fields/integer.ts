import type { Given } from '../resolve/raw-value.ts'
import { accepting, type Kind } from './field-type.ts'

/** An integer between two bounds, both in it; `without` says what holds where the field is left out. */
export function wholeNumber(least: number, most: number, without?: string): Kind<number> {
  return accepting({
    schema: { type: 'integer', minimum: least, maximum: most },
    expected: (given) => expectation(given, { least, most, without }),
    accept: ({ value }) => {
      const number = Number(isNumber(value) ? value : Number.NaN)
      return Number.isSafeInteger(number) && number >= least && number <= most ? number + 0 : undefined
    },
    suggest: ({ value }) => (typeof value === 'string' ? digitsOf(value) : undefined),
  })
}

type Bounds = { least: number; most: number; without: string | undefined }

function expectation({ value }: Given, { least, most, without }: Bounds): string {
  const isOpen = most === Number.MAX_SAFE_INTEGER && !(isNumber(value) && value > most)
  const range = `an integer, ${isOpen ? `${least} or more` : `${least} to ${most}`}`
  if (typeof value !== 'string') return range
  if (DATE.test(value)) return `${range}: a number, not a date`
  return without === undefined || /\d/.test(value) ? range : `${range} (without the field: ${without})`
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

const DATE = /^\d{4}-\d\d(-\d\d)?/

/** The number that a text stands for, in digits: with separators of thousands, a comma behind it, or hexadecimal. */
function digitsOf(text: string): string | undefined {
  if (/^0x[0-9a-f]{1,13}$/i.test(text)) return String(Number(text))
  return /^(\d{1,15}|\d{1,3}([_, .']\d{3})+),?$/.exec(text)?.[1]?.replace(/\D/g, '')
}
