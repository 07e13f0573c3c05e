/** Why a token is probably not what it looks like. */
export type SpamFlag = { rule: string; why: string }

type SymbolContext = { symbol: string | null; nativeSymbol: string | null }

/** The rules, one by one, each with what it is for; jobs/ACCOUNTING.md lists them. A dot alone is none: USDC.e is bridged. */
export const SPAM_RULES: readonly {
  rule: string
  why: string
  matches: (context: SymbolContext) => boolean
}[] = [
  {
    rule: 'link',
    why: 'its symbol is a link',
    matches: ({ symbol }) =>
      /https?:|www\.|[\p{L}\p{N}][.,·][ ]?(com|io|site|xyz|li|org|cc|net|pm|app|top|vip|gift)\b/iu.test(
        symbol ?? '',
      ),
  },
  {
    rule: 'lure',
    why: 'its symbol asks for something',
    matches: ({ symbol }) => /\b(claim|visit|invited|voucher)/i.test(symbol ?? ''),
  },
  {
    rule: 'price tag',
    why: 'its symbol is an amount of money',
    matches: ({ symbol }) => /^\$.+\..+/.test(symbol ?? ''),
  },
  {
    rule: 'invisible',
    why: 'its symbol has characters that nobody sees',
    matches: ({ symbol }) => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(symbol ?? ''),
  },
  {
    rule: 'look-alike',
    why: 'its symbol only looks like that of another',
    matches: ({ symbol, nativeSymbol }) => {
      const folded = foldConfusables(symbol ?? '')
      return folded !== symbol?.toUpperCase() && [...WELL_KNOWN, nativeSymbol].includes(folded)
    },
  },
  {
    rule: "coin's symbol",
    why: "it has the symbol of the chain's coin",
    matches: ({ symbol, nativeSymbol }) =>
      nativeSymbol !== null && foldConfusables(symbol ?? '') === nativeSymbol.toUpperCase(),
  },
]

/** The rules that a token's symbol fits; `nativeSymbol` is that of the chain's coin. */
export function spamFlagsOf(symbol: string | null, nativeSymbol: string | null): SpamFlag[] {
  return SPAM_RULES.filter(({ matches }) => matches({ symbol, nativeSymbol })).map(({ rule, why }) => ({
    rule,
    why,
  }))
}

/** A token's events say something else than its balances. */
export const MISREPORTS_BALANCES: SpamFlag = {
  rule: 'below zero',
  why: 'more of it went out than ever came in: its events are not its balances',
}

const WELL_KNOWN: readonly (string | null)[] = [
  ...['USDC', 'USDT', 'DAI', 'BUSD', 'TUSD', 'FRAX', 'ETH', 'WETH', 'BTC', 'WBTC', 'BNB', 'MATIC', 'AVAX'],
  ...['WAVAX', 'LINK', 'UNI', 'AAVE', 'STETH'],
]

/** In capitals, compatibility forms and letters of other scripts that look like Latin ones replaced by these. */
function foldConfusables(symbol: string): string {
  const visible = symbol.normalize('NFKC').replace(/[\p{Cc}\p{Cf}\s]/gu, '')
  return [...visible.toUpperCase()].map((letter) => CONFUSABLE.get(letter) ?? letter).join('')
}

/** Cyrillic and Greek capitals that look like Latin ones (Unicode's confusables, as far as tickers go). */
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
