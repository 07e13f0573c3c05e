import { ExportError } from '../core/model/errors.ts'

/**
 * Deviations from the interface that services of the same kind show, to test clients against. Each is off
 * unless it is named in `serve --quirk` or in the option `quirks`.
 */
export const QUIRKS = {
  'fee-cap': 'listings show the fee cap of a type-2 transaction as its gasPrice, not the price that was paid',
  'top-level-call':
    'internal lists of wallet listings begin with the top-level call and contain calls that move no coins',
  'atomic-transfers':
    'some wallets of chain 43114 have atomic imports and exports, which their balances include',
  'zero-milliseconds': 'transactions without blockTimestampMilliseconds show it as 0',
  'offset-tokens': 'page tokens count the items before the page, so a growing chain shifts its pages',
  'small-pages':
    'listings refuse a pageSize above 40 with 413, or with 504 in descending order, and pages hold at most 20 items',
  'no-internal-receipts':
    'the listing of a wallet omits transactions that it is only the receiver of an internal transaction of',
  'compute-units': 'the quota of the tier free: 8,000 compute units a minute, 2,000,000 a day',
} as const

export type Quirk = keyof typeof QUIRKS
const QUIRK_NAMES = Object.keys(QUIRKS) as readonly Quirk[]

/**
 * Reads names of quirks; each text is a list separated by commas.
 *
 * @throws USAGE if a name is unknown
 */
export function readQuirks(texts: readonly string[]): Quirk[] {
  const names = texts.flatMap((text) => text.split(',')).map((name) => name.trim())
  return names.map((name) => {
    const quirk = QUIRK_NAMES.find((known) => known === name)
    if (quirk !== undefined) return quirk
    throw new ExportError(
      'USAGE',
      `there is no quirk ${JSON.stringify(name)}: expected one of ${QUIRK_NAMES.join(', ')}`,
    )
  })
}
