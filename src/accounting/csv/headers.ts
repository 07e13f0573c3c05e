import type { Preset } from './preset.ts'

/** Values for the variables `{currency}` and `{coin}` of headers. */
export type HeaderValues = { currency: string | undefined; coin: string | undefined }

/** Returns the headers of a preset's columns. `{currency}` defaults to GBP, `{coin}` to COIN. */
export function headersOf({ columns }: Preset, { currency = 'GBP', coin }: HeaderValues): string[] {
  const symbol = (coin ?? '').replace(/\W/g, '') || 'COIN'
  return columns.map(([header]) => header.replace('{currency}', currency).replace('{coin}', symbol))
}

/** Whether a text matches a column's header with any currency and coin. */
export function isHeader(text: string | undefined, header: string): boolean {
  if (text === undefined) return false
  const pattern = header.replace(/[$()]/g, '\\$&').replace(/\{(currency|coin)\}/g, '\\w+')
  return new RegExp(`^${pattern}$`).test(text)
}
