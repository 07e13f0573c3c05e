import { ExportError } from '../../core/model/errors.ts'
import { shiftDecimal } from '../../core/platform/decimal.ts'
import { FIAT_DECIMALS } from '../../ledger/prices/prices.ts'
import { Html, type HtmlPart, html } from '../html.ts'
import { exactAmount, formatMoney, formatNumber, shortenAmount, shortenNumber } from '../numbers.ts'
import { de } from './de.ts'
import { en, type Messages } from './en.ts'

const LANGUAGES: Readonly<Record<string, Messages>> = { en, de }
export const LANGUAGE_NAMES = Object.keys(LANGUAGES)

/** The texts of a language, and its way to write numbers and dates. */
export type Text = ReturnType<typeof textIn>

/** Returns the texts of a language. Throws USAGE for an unknown one. */
export function textIn(language = 'en') {
  const messages = LANGUAGES[language]
  if (messages === undefined)
    throw new ExportError('USAGE', `there is no report in the language ${language}`, {
      fix: `Use one of ${LANGUAGE_NAMES.join(', ')}.`,
    })
  const { separators, locale } = messages
  const plural = new Intl.PluralRules(locale)
  const day = new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  })
  const month = new Intl.DateTimeFormat(locale, { month: 'short', year: 'numeric', timeZone: 'UTC' })
  const number = (count: number | string): string => formatNumber(count, separators)
  const fill = (template: string, values: Readonly<Record<string, HtmlPart>>): Html =>
    new Html(
      template
        .split(/(\{\w+\})/)
        .map((part) => html`${part.startsWith('{') ? (values[part.slice(1, -1)] ?? '') : part}`.text)
        .join(''),
    )
  const amountHtml = (text: string, exact: string): Html =>
    html`<span class="amount" title="${exact}">${text}</span>`
  return {
    messages,
    fill,
    number,
    /** A count with its noun. */
    count: (count: number, name: keyof Messages['counts']): string =>
      (messages.counts[name][plural.select(count) === 'one' ? 0 : 1] ?? '').replace('{n}', number(count)),
    /** A text whose values are no HTML. */
    plain: (template: string, values: Readonly<Record<string, string | number>>): string =>
      template.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? '')),
    /** A day of a time in the format of the tables, or of its first ten characters. */
    day: (time: string): string => day.format(new Date(`${time.slice(0, 10)}T00:00:00Z`)),
    month: (time: string): string => month.format(new Date(`${time.slice(0, 7)}-01T00:00:00Z`)),
    minute: (time: string): string => `${day.format(new Date(time))}, ${time.slice(11, 16)} UTC`,
    list: (names: readonly string[]): string =>
      names.length < 2
        ? (names[0] ?? '')
        : messages.and.replace('{list}', names.slice(0, -1).join(', ')).replace('{last}', names.at(-1) ?? ''),
    /** An amount, shortened for reading, with the exact value in its title. */
    amount: (value: bigint, decimals: number | null): Html => {
      const exact = exactAmount(value, decimals)
      return amountHtml(shortenAmount(exact, separators), exact)
    },
    /** A fiat value in units of 10^-8; a dash for null. */
    money: (value: bigint | null): Html => {
      if (value === null) return html`–`
      const exact = shiftDecimal(String(value), FIAT_DECIMALS) ?? ''
      return amountHtml(formatMoney(exact, separators), exact)
    },
    /** A price per unit, as the file states it. */
    price: (exact: string): Html => amountHtml(shortenNumber(exact, separators), exact),
    /** A share of 1 as a percentage; below 10 % with one decimal. */
    percent: (share: number): string =>
      `${number(share > 0 && share < 0.1 ? (100 * share).toFixed(1) : Math.round(100 * share))}\u00a0%`,
  }
}
