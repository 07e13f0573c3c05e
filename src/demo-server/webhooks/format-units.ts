/** Formats a whole number of smallest units as a plain decimal: `formatUnits('1500', 3)` returns `1.5`. */
export function formatUnits(value: unknown, decimals: unknown): string {
  const text = String(value)
  const decimalPlaces = Number(decimals)
  if (!/^\d+$/.test(text) || !Number.isInteger(decimalPlaces) || decimalPlaces <= 0) return text
  const digits = text.padStart(decimalPlaces + 1, '0')
  const fraction = digits.slice(-decimalPlaces).replace(/0+$/, '')
  return `${digits.slice(0, -decimalPlaces)}${fraction && `.${fraction}`}`
}
