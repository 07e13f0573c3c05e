import type { Party } from './chain-types.ts'

/** A row as text by column; null is SQL's NULL. */
export type ExpectedRow = Record<string, string | null>

/** An empty text is NULL. */
export const text = (value: string | undefined) => (value === undefined || value === '' ? null : value)
const nameOf = ({ name }: Party) => text(name)
export const addressOf = ({ address }: Party) => text(address)
export const parties = ({ from, to }: { from: Party; to: Party }): ExpectedRow => ({
  from_address: addressOf(from),
  from_name: nameOf(from),
  to_address: addressOf(to),
  to_name: nameOf(to),
})

/** value / 10^decimals. */
export function amount(value: string, decimals: number | null | undefined): string | null {
  if (decimals === null || decimals === undefined) return null
  const negative = value.startsWith('-')
  const digits = value.replace('-', '').padStart(decimals + 1, '0')
  const [integerPart, fractionDigits] = [
    digits.slice(0, digits.length - decimals),
    digits.slice(digits.length - decimals),
  ]
  const fraction = fractionDigits.replace(/0+$/, '')
  const plain = fraction === '' ? integerPart : `${integerPart}.${fraction}`
  return negative && plain !== '0' ? `-${plain}` : plain
}
