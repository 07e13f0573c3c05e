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

/** Rounds a plain decimal to `places` decimal places, half away from zero. The result has all of them: `1.00`. */
export function roundDecimal(exact: string, places: number): string {
  const { sign, whole, fraction } = partsOf(exact)
  const kept = BigInt(whole + fraction.slice(0, places).padEnd(places, '0'))
  const isUp = (fraction[places] ?? '0') >= '5'
  const digits = String(isUp ? kept + 1n : kept).padStart(places + 1, '0')
  const at = digits.length - places
  const rounded = places === 0 ? digits : `${digits.slice(0, at)}.${digits.slice(at)}`
  return /[1-9]/.test(rounded) ? sign + rounded : rounded
}

/** Rounds a plain decimal in scientific notation: `-123.45` with one place is `-1.2` × 10^2. */
export function roundScientific(exact: string, places: number): { mantissa: string; exponent: number } {
  const { sign, whole, fraction } = partsOf(exact)
  const digits = whole + fraction
  const first = digits.search(/[1-9]/)
  if (first < 0) return { mantissa: roundDecimal('0', places), exponent: 0 }
  const exponent = whole.length - first - 1
  const mantissa = roundDecimal(`${sign}${digits[first]}.${digits.slice(first + 1)}`, places)
  if (!/^-?10/.test(mantissa)) return { mantissa, exponent }
  return { mantissa: roundDecimal(`${sign}1`, places), exponent: exponent + 1 }
}

function partsOf(exact: string) {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d*))?$/.exec(exact) ?? []
  return { sign, whole, fraction }
}

/** A plain decimal without the zeros at the end of its fraction. */
export function trimFraction(exact: string): string {
  const [whole = '', fraction = ''] = exact.split('.')
  const trimmed = trimZeros(fraction)
  return trimmed === '' ? whole : `${whole}.${trimmed}`
}
