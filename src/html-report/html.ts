import {
  roundDecimal,
  roundScientific,
  shiftDecimal,
  trimFraction,
  trimZeros,
} from '../core/platform/decimal.ts'
import { FIAT_DECIMALS } from '../ledger/prices/prices.ts'
import { groupDigits } from './numbers.ts'
import { visibleText } from './visible-text.ts'

export { formatCount, groupDigits } from './numbers.ts'

/** HTML that is safe to put into a page: untrusted text in it is escaped. Pages are built from this type only. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type HtmlPart = Html | string | number | readonly HtmlPart[] | undefined

/** Template tag that builds HTML. Inserted values are escaped unless they are `Html` already. */
export function html(texts: TemplateStringsArray, ...parts: HtmlPart[]): Html {
  let text = texts[0] ?? ''
  for (const [at, part] of parts.entries()) text += textOf(part) + (texts[at + 1] ?? '')
  return new Html(text)
}

function textOf(part: HtmlPart): string {
  if (part === undefined) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(textOf).join('')
  return escapeHtml(visibleText(String(part)))
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (letter) => ESCAPES[letter] ?? '')

/** Maximum length of a name on a page, in Unicode code points. */
const MAX_NAME_LENGTH = 60

/** An untrusted name, truncated, and in `<bdi>` so that its text direction does not affect the text around it. */
export function nameHtml(name: string): Html {
  const characters = [...name.slice(0, 4 * MAX_NAME_LENGTH)]
  const short =
    characters.length > MAX_NAME_LENGTH ? `${characters.slice(0, MAX_NAME_LENGTH).join('')}…` : name
  return html`<bdi>${short}</bdi>`
}

/** The first and last four hex digits of an address: `0x1234…abcd`. */
export const shortAddress = (address: string): string => `${address.slice(0, 6)}…${address.slice(-4)}`

/** A shortened address with the full one in its `title`. */
export const addressHtml = (address: string): Html =>
  html`<span class="address" title="${address}">${shortAddress(address)}</span>`

/** A number shortened for reading; `isExact` unless digits other than zero were left out. */
export type ShortNumber = { text: string; isExact: boolean }

/** Formats an exact decimal for reading, rounded: `8.31 × 10^73`, `1 234.57`. */
export function shortenNumber(exact: string): ShortNumber {
  const [, whole = '', fraction = ''] = /^-?(\d+)(?:\.(\d+))?$/.exec(exact) ?? []
  const zeros = /^0*/.exec(fraction)?.[0].length ?? 0
  if (whole.length > 15 || (whole === '0' && zeros >= 6 && zeros < fraction.length)) return scientific(exact)
  const decimalPlaces = Math.max(2, 7 - whole.length) + (whole === '0' ? zeros : 0)
  return {
    text: displayDecimal(trimFraction(roundDecimal(exact, decimalPlaces))),
    isExact: trimZeros(fraction.slice(decimalPlaces)) === '',
  }
}

function scientific(exact: string): ShortNumber {
  const { mantissa, exponent } = roundScientific(exact, 2)
  const significant = trimZeros(exact.replace(/^-?[0.]*/, '').replace('.', ''))
  return {
    text: `${displayDecimal(trimFraction(mantissa))} × 10^${exponent}`,
    isExact: significant.length <= 3,
  }
}

/** A plain decimal with a minus sign and its digits in groups. */
function displayDecimal(plain: string): string {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(.*)$/.exec(plain) ?? []
  return `${sign === '' ? '' : '−'}${groupDigits(whole)}${fraction}`
}

/** A number with its exact value in the `title`. The style sheet puts ≈ before numbers that are not exact. */
function numberHtml({ text, isExact }: ShortNumber, { title, unit }: { title: string; unit?: Html }): Html {
  return html`<span class="amount" title="${title}"${new Html(isExact ? '' : ' data-rounded')}>${text}${unit}</span>`
}

/** An amount, shortened for reading, with the exact value in its `title`; in smallest units if `decimals` is null. */
export function amountHtml(value: bigint, decimals: number | null): Html {
  const exact = shiftDecimal(String(value), decimals)
  if (exact !== null) return numberHtml(shortenNumber(exact), { title: exact })
  const title = `in the smallest unit: ${value}`
  return numberHtml(shortenNumber(String(value)), { title, unit: html` <small>units</small>` })
}

const CENT = 10n ** BigInt(FIAT_DECIMALS - 2)
/** From here on, values are shortened as amounts are: 10^15, which only made-up tokens are worth. */
const LARGEST_MONEY = 10n ** BigInt(FIAT_DECIMALS + 15)

/** A fiat value in units of 10^-8, rounded to two decimal places, with the exact value in its `title`; a dash for null. */
export function fiatHtml(value: bigint | null): Html {
  if (value === null) return html`–`
  const title = shiftDecimal(String(value), FIAT_DECIMALS) ?? ''
  const size = value < 0n ? -value : value
  if (size >= LARGEST_MONEY) return numberHtml(shortenNumber(title), { title })
  const text = displayDecimal(roundDecimal(title, 2))
  return numberHtml({ text, isExact: size % CENT === 0n }, { title })
}

/** Formats a share as a percentage; below 10 % with one decimal. */
export function percent(part: number, total: number): string {
  const share = total === 0 ? 0 : (100 * part) / total
  return `${share > 0 && share < 10 ? share.toFixed(1) : Math.round(share)}\u00a0%`
}

/** Formats a timestamp of the tables to the minute: `2023-11-14 22:13 UTC`. */
export const formatUtcMinute = (time: string): string => `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`
