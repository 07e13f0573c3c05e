import type { Preset } from './preset.ts'

/** What stands in headers for `{currency}` and `{coin}`. */
export type HeaderValues = { currency: string | undefined; coin: string | undefined }

/** The headers of a preset's columns. */
export function headersOf({ columns }: Preset, { currency = 'GBP', coin }: HeaderValues): string[] {
  const symbol = (coin ?? '').replace(/\W/g, '') || 'COIN'
  return columns.map(([header]) => header.replace('{currency}', currency).replace('{coin}', symbol))
}

/** Whether a header is the one of a column, whatever the currency and the coin. */
export function isHeader(text: string | undefined, header: string): boolean {
  if (text === undefined) return false
  const pattern = header.replace(/[$()]/g, '\\$&').replace(/\{(currency|coin)\}/g, '\\w+')
  return new RegExp(`^${pattern}$`).test(text)
}
