import * as v from 'valibot'
import type { RawValue } from '../resolve/raw-value.ts'
import { type FieldType, fieldType } from './field-type.ts'

/** An integer from `min` to `max`, inclusive. `whenOmitted` describes the default in diagnostics. */
export function integer(min: number, max: number, whenOmitted?: string): FieldType<number> {
  return fieldType({
    schema: { type: 'integer', minimum: min, maximum: max },
    parsed: v.pipe(v.number(), v.safeInteger(), v.minValue(min), v.maxValue(max)),
    expected: (raw) => expectation(raw, { min, max, whenOmitted }),
    accept: ({ value }) => {
      const number = Number(isNumber(value) ? value : Number.NaN)
      return Number.isSafeInteger(number) && number >= min && number <= max ? number + 0 : undefined
    },
    suggest: ({ value }) => (typeof value === 'string' ? suggestInteger(value) : undefined),
    fromTexts: ([text = '']) => (/^\d{1,15}$/.test(text) ? Number(text) : text),
  })
}

type IntegerLimits = { min: number; max: number; whenOmitted: string | undefined }

function expectation({ value }: RawValue, { min, max, whenOmitted }: IntegerLimits): string {
  const isOpen = max === Number.MAX_SAFE_INTEGER && !(isNumber(value) && value > max)
  const range = `an integer, ${isOpen ? `${min} or more` : `${min} to ${max}`}`
  if (typeof value !== 'string') return range
  if (DATE.test(value)) return `${range}: a number, not a date`
  return whenOmitted === undefined || /\d/.test(value)
    ? range
    : `${range} (without the field: ${whenOmitted})`
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

const DATE = /^\d{4}-\d\d(-\d\d)?/

/** Suggests the number for text with thousands separators or a trailing comma, or in hexadecimal notation. */
function suggestInteger(text: string): string | undefined {
  if (/^0x[0-9a-f]{1,13}$/i.test(text)) return String(Number(text))
  return /^(\d{1,15}|\d{1,3}([_, .']\d{3})+),?$/.exec(text)?.[1]?.replace(/\D/g, '')
}
