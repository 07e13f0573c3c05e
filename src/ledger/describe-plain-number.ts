/**
 * Describes the number that a cell must have. Names the number that was probably meant if it has a decimal comma; a comma
 * before three digits may separate thousands.
 */
export function describePlainNumber(found: string): string {
  if (/^-?\d{1,3}(,\d{3})+$/.test(found))
    return 'digits without thousands separators, and a decimal point if any'
  if (/^-?\d+,\d+$/.test(found)) return `a decimal point, as in ${found.replace(',', '.')}`
  return 'digits with an optional decimal point'
}
