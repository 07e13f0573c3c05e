/** `integerDigits` / 10^`decimals` as exact plain digits; null if `decimals` is null or not in 0..255. */
export function shiftDecimal(integerDigits: string, decimals: number | null): string | null {
  if (decimals === null || decimals < 0 || decimals > 255) return null
  if (decimals === 0 || integerDigits === '0') return integerDigits
  const sign = integerDigits[0] === '-' ? '-' : ''
  const digits = (sign === '' ? integerDigits : integerDigits.slice(1)).padStart(decimals + 1, '0')
  const fraction = trimZeros(digits.slice(-decimals))
  const integer = sign + digits.slice(0, -decimals)
  return fraction === '' ? integer : `${integer}.${fraction}`
}

export function trimZeros(fraction: string): string {
  let end = fraction.length
  while (end > 0 && fraction[end - 1] === '0') end -= 1
  return fraction.slice(0, end)
}
