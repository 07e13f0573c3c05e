import { trimZeros } from '../../../core/platform/decimal.ts'
import type { Fields } from '../../fields.ts'

/**
 * Reads a decimal number, given as text or as a JSON number, as exact digits without an exponent; null if
 * there is none.
 */
export function decimalAt(from: Fields, name: string): string | null {
  const value = from[name]
  const text = typeof value === 'number' ? String(value) : value
  const parts = typeof text === 'string' ? /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text) : null
  if (parts === null) return null
  const [, sign = '', integer = '', fraction = '', exponent = '0'] = parts
  return plain({ sign, digits: integer + fraction, point: integer.length + Number(exponent) })
}

function plain({ sign, digits, point: pointIndex }: { sign: string; digits: string; point: number }): string {
  const padded = pointIndex <= 0 ? '0'.repeat(1 - pointIndex) + digits : digits.padEnd(pointIndex, '0')
  const at = Math.max(1, pointIndex)
  const integer = padded.slice(0, at).replace(/^0+(?=\d)/, '')
  const fraction = trimZeros(padded.slice(at))
  if (integer === '0' && fraction === '') return '0'
  return sign + (fraction === '' ? integer : `${integer}.${fraction}`)
}
