import { trimZeros } from '../../../core/platform/decimal.ts'
import type { Fields } from './fields.ts'

/** A decimal number, given as text or as a JSON number, in exact plain digits; null where there is none. */
export function decimalAt(from: Fields, name: string): string | null {
  const value = from[name]
  const text = typeof value === 'number' ? String(value) : value
  const parts = typeof text === 'string' ? /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text) : null
  if (parts === null) return null
  const [, sign = '', integer = '', fraction = '', exponent = '0'] = parts
  return plain({ sign, digits: integer + fraction, point: integer.length + Number(exponent) })
}

function plain({ sign, digits, point }: { sign: string; digits: string; point: number }): string {
  const padded = point <= 0 ? '0'.repeat(1 - point) + digits : digits.padEnd(point, '0')
  const at = Math.max(1, point)
  const integer = padded.slice(0, at).replace(/^0+(?=\d)/, '')
  const fraction = trimZeros(padded.slice(at))
  if (integer === '0' && fraction === '') return '0'
  return sign + (fraction === '' ? integer : `${integer}.${fraction}`)
}
