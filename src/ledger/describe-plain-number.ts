/** Describes the number that a cell must have. Names the number that was probably meant if it has a decimal comma. */
export const describePlainNumber = (found: string): string =>
  /^-?\d+,\d+$/.test(found)
    ? `a decimal point, as in ${found.replace(',', '.')}`
    : 'digits with an optional decimal point'
