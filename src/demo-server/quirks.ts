import type { ExplorerApi } from '../core/model/api.ts'
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
/** Ways in which services of an explorer API differ from each other, to test clients against. */
export const EXPLORER_QUIRKS = {
  'free-plan': {
    api: 'etherscan',
    about: 'an answer has at most 1,000 records, as for free keys',
  },
  'before-9': {
    api: 'blockscout',
    about: 'transfers have a log index, and tokentx lists all standards, as before version 9.0.0',
  },
  'late-internals': {
    api: 'blockscout',
    about: 'the internal transactions of the last 10 blocks are not processed yet',
  },
} as const satisfies Record<string, { api: ExplorerApi; about: string }>

export type ExplorerQuirk = keyof typeof EXPLORER_QUIRKS

/**
 * Reads names of quirks; each text is a list separated by commas.
 *
 * @throws USAGE if a name is unknown
 */
export function readQuirks(texts: readonly string[]): Quirk[] {
  return readNames(texts, Object.keys(QUIRKS) as Quirk[], 'there is no quirk')
}

/**
 * Reads names of quirks of an explorer API; each text is a list separated by commas.
 *
 * @throws USAGE if the API has no such quirk
 */
export function readExplorerQuirks(texts: readonly string[], api: ExplorerApi): ExplorerQuirk[] {
  const names = Object.keys(EXPLORER_QUIRKS) as ExplorerQuirk[]
  const quirks = names.filter((name) => EXPLORER_QUIRKS[name].api === api)
  return readNames(texts, quirks, `the API ${api} has no quirk`)
}

function readNames<Name extends string>(
  texts: readonly string[],
  names: readonly Name[],
  refusal: string,
): Name[] {
  const requested = texts.flatMap((text) => text.split(',')).map((text) => text.trim())
  return requested.map((text) => {
    const name = names.find((candidate) => candidate === text)
    if (name !== undefined) return name
    throw new ExportError('USAGE', `${refusal} ${JSON.stringify(text)}: expected one of ${names.join(', ')}`)
  })
}
