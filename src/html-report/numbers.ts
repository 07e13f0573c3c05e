/** The narrow no-break space: lines do not break in numbers. */
const NARROW_SPACE = '\u202f'

/** Groups digits in thousands with narrow spaces. */
export const groupDigits = (digits: string | number): string =>
  String(digits).replace(/\B(?=(\d{3})+$)/g, NARROW_SPACE)

/** A count with its noun: `1 wallet`, `1 234 wallets`, `2 counterparties`. */
export const formatCount = (count: number, noun: string): string =>
  `${groupDigits(count)} ${count === 1 ? noun : pluralOf(noun)}`

const pluralOf = (noun: string) => `${noun.replace(/([^aeiou])y$/, '$1ie')}s`

/** Formats a plain decimal without dropping digits: `−1 234.5`. Other text is returned unchanged. */
export function formatNumber(text: string): string {
  const [, sign = '', whole, fraction = ''] = /^(-?)(\d+)(\.\d+)?$/.exec(text) ?? []
  return whole === undefined ? text : `${sign === '' ? '' : '−'}${groupDigits(whole)}${fraction}`
}
