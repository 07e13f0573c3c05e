/** Writes a whole number of smallest units as a plain decimal: `formatUnits('1500', 3)` is `1.5`. */
export function formatUnits(value: unknown, decimals: unknown): string {
  const text = String(value)
  const places = Number(decimals)
  if (!/^\d+$/.test(text) || !Number.isInteger(places) || places <= 0) return text
  const digits = text.padStart(places + 1, '0')
  const fraction = digits.slice(-places).replace(/0+$/, '')
  return `${digits.slice(0, -places)}${fraction && `.${fraction}`}`
}
