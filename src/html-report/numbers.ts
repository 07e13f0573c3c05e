const THIN_SPACE = '\u2009'

/** Digits with thin spaces between thousands. */
export const groupDigits = (digits: string | number): string =>
  String(digits).replace(/\B(?=(\d{3})+$)/g, THIN_SPACE)

/** `1 wallet`, `2 wallets`, with thin spaces between thousands. */
export const formatCount = (count: number, noun: string): string =>
  `${groupDigits(count)} ${noun}${count === 1 ? '' : 's'}`

/** A plain decimal as a page shows it, to the last digit: −1 234.5. Other text stays as it is. */
export function formatNumber(text: string): string {
  const [, sign = '', whole, fraction = ''] = /^(-?)(\d+)(\.\d+)?$/.exec(text) ?? []
  return whole === undefined ? text : `${sign === '' ? '' : '−'}${groupDigits(whole)}${fraction}`
}
