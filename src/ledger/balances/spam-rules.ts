/** A reason why a token is probably spam or a fake. */
export type SpamFlag = { rule: string; why: string }

type SymbolContext = { symbol: string | null; nativeSymbol: string | null }

/**
 * The spam rules in the order of jobs/ACCOUNTING.md, which documents them. A dot alone does not make a symbol a link:
 * bridged tokens have names such as USDC.e.
 */
export const SPAM_RULES: readonly {
  rule: string
  why: string
  matches: (context: SymbolContext) => boolean
}[] = [
  {
    rule: 'link',
    why: 'its symbol contains a link',
    matches: ({ symbol }) =>
      /https?:|www\.|[\p{L}\p{N}][.,·][ ]?(com|io|site|xyz|li|org|cc|net|pm|app|top|vip|gift)\b/iu.test(
        symbol ?? '',
      ),
  },
  {
    rule: 'lure',
    why: 'its symbol asks the reader to do something',
    matches: ({ symbol }) => /\b(claim|visit|invited|voucher)/i.test(symbol ?? ''),
  },
  {
    rule: 'price tag',
    why: 'its symbol is an amount of money',
    matches: ({ symbol }) => /^\$.+\..+/.test(symbol ?? ''),
  },
  {
    rule: 'invisible',
    why: 'its symbol contains invisible characters',
    matches: ({ symbol }) => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(symbol ?? ''),
  },
  {
    rule: 'look-alike',
    why: 'its symbol imitates a well-known symbol with other letters',
    matches: ({ symbol, nativeSymbol }) => {
      const folded = foldConfusables(symbol ?? '')
      return folded !== symbol?.toUpperCase() && [...WELL_KNOWN, nativeSymbol].includes(folded)
    },
  },
  {
    rule: "coin's symbol",
    why: 'it has the symbol of the native coin',
    matches: ({ symbol, nativeSymbol }) =>
      nativeSymbol !== null && foldConfusables(symbol ?? '') === nativeSymbol.toUpperCase(),
  },
]

/** Returns the rules that a token's symbol matches. `nativeSymbol` is the symbol of the native coin. */
export function spamFlagsOf(symbol: string | null, nativeSymbol: string | null): SpamFlag[] {
  return SPAM_RULES.filter(({ matches }) => matches({ symbol, nativeSymbol })).map(({ rule, why }) => ({
    rule,
    why,
  }))
}

/** The flag of a token whose Transfer events do not match its balances. */
export const MISREPORTS_BALANCES: SpamFlag = {
  rule: 'below zero',
  why: 'more of it was sent than received, always by others, so its events do not match its balances',
}

const WELL_KNOWN: readonly (string | null)[] = [
  'USDC',
  'USDT',
  'DAI',
  'BUSD',
  'TUSD',
  'FRAX',
  'ETH',
  'WETH',
  'BTC',
  'WBTC',
  'BNB',
  'MATIC',
  'AVAX',
  'WAVAX',
  'LINK',
  'UNI',
  'AAVE',
  'STETH',
]

/**
 * Returns the symbol in capitals, with compatibility forms and look-alike letters of other scripts replaced by Latin
 * letters.
 */
function foldConfusables(symbol: string): string {
  const visible = symbol.normalize('NFKC').replace(/[\p{Cc}\p{Cf}\s]/gu, '')
  return [...visible.toUpperCase()].map((letter) => CONFUSABLE.get(letter) ?? letter).join('')
}

/**
 * Capitals and signs that look like Latin capitals, mostly Cyrillic and Greek: the entries of Unicode's confusables
 * that matter for tickers.
 */
const CONFUSABLE = new Map([
  ...Object.entries({
    А: 'A',
    В: 'B',
    С: 'C',
    Е: 'E',
    Н: 'H',
    І: 'I',
    Ј: 'J',
    К: 'K',
    М: 'M',
    О: 'O',
    Р: 'P',
  }),
  ...Object.entries({ Ѕ: 'S', Т: 'T', Х: 'X', У: 'Y', Ԁ: 'D', Ѵ: 'V', Ԝ: 'W' }),
  ...Object.entries({
    Α: 'A',
    Β: 'B',
    Ε: 'E',
    Ζ: 'Z',
    Η: 'H',
    Ι: 'I',
    Κ: 'K',
    Μ: 'M',
    Ν: 'N',
    Ο: 'O',
    Ρ: 'P',
  }),
  ...Object.entries({ Τ: 'T', Υ: 'Y', Χ: 'X', ꓴ: 'U', ꓢ: 'S', ꓓ: 'D', ꓚ: 'C', ꓔ: 'T', '₮': 'T' }),
])
