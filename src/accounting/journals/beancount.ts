import { isNft } from '../../core/model/asset.ts'
import type { Asset, Movement } from '../movement.ts'
import { digitsOf, safeText } from '../names/names.ts'
import {
  entriesText,
  type JournalFormat,
  payee,
  purpose,
  timeOfDay,
  totalPriceText,
  walletAccountName,
} from './journal-format.ts'

export const beancount: JournalFormat = {
  name: 'beancount',
  title: 'beancount 2 and 3',
  accounts: {
    opening: 'Equity:Opening-Balances',
    fee: 'Expenses:Gas',
    mint: 'Equity:Mint',
    burn: 'Equity:Burn',
    own: 'Equity:Own-Transfers',
    in: 'Equity:External:In',
    out: 'Equity:External:Out',
  },
  // The syntax of beancount's parser. Capitals of any script are allowed.
  accountRule: {
    pattern: /^(Assets|Liabilities|Equity|Income|Expenses)(:[\p{Lu}0-9][\p{L}0-9-]*)+$/u,
    expected:
      'an account such as Expenses:Rent: Assets, Liabilities, Equity, Income or Expenses, then parts of letters, digits and -, each after a : and starting with a capital or digit',
  },
  accountOf: (movement, digits) => {
    const name = walletAccountName(movement, digits)
      .replace(/[^A-Za-z0-9]+/g, '-')
      .replace(/^-/, '')
    return `Assets:Crypto:${name.charAt(0).toUpperCase()}${name.slice(1)}`
  },
  commodityOf: beancountName,
  declareAccount: (account) => `1970-01-01 open ${account}\n`,
  declareCommodity: (commodity, { address, symbol, decimals }) =>
    [
      `1970-01-01 commodity ${commodity}\n`,
      ...(address === null ? [] : [`  contract: ${quoteText(address)}\n`]),
      ...(symbol === null ? [] : [`  symbol: ${quoteText(safeText(symbol))}\n`]),
      ...(decimals === null ? [] : [`  decimals: ${decimals}\n`]),
    ].join(''),
  entryHeader: (movement) =>
    `${movement.time.slice(0, 10)} * ${[payee(movement), purpose(movement)].filter(Boolean).map(quoteText).join(' ')}${linkText(movement)}\n  time: ${quoteText(timeOfDay(movement))}${chainText(movement)}`,
  posting: ({ account, amount, commodity, totalPrice, movements }) =>
    `  ${account}  ${amount} ${commodity}${totalPriceText(totalPrice)}\n${metadataOf(movements)}`,
  header: (currency) => (currency === undefined ? '' : `option "operating_currency" "${currency}"\n\n`),
  price: ({ day, commodity, price, currency }) => `${day} price ${commodity} ${price} ${currency}\n`,
  maxNumberLength: 250,
  numbers: { maxSumDigits: 28 },
  // beancount divides a total price by the amount and multiplies them again, with 28 digits each. The difference to the
  // total must stay below half a unit of the last decimal written, and is not tolerated in integers.
  pricedNumbers: { maxDigits: 26, needsPoint: true },
  source: 'beancount 2.3.5, tested',
  rulesOf: '2026-08-21',
}

const chainText = ({ chainName }: Movement) =>
  chainName === undefined ? '' : `\n  chain: ${quoteText(chainName)}`

const linkText = ({ transaction }: Movement) => (transaction === '' ? '' : ` ^${transaction}`)

function metadataOf(movements: readonly Movement[]): string {
  const [movement] = movements
  if (movement === undefined) return ''
  const id = isNft(movement.asset) ? `    id: ${quoteText(String(movement.asset.tokenId))}\n` : ''
  return `    entry: ${quoteText(entriesText(movements))}\n${id}`
}

/** Maximum length of commodity names in beancount 2. */
const MAX_NAME_LENGTH = 24

/**
 * Builds a commodity name: the ticker in capitals, or else up to ten capitals and digits of the symbol, then digits of the contract. All NFTs of a
 * collection are one commodity.
 */
function beancountName({ address, symbol, digits, ticker }: Asset): string {
  if (ticker !== undefined) return tickerCommodity(ticker)
  const letters = (symbol ?? '')
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '')
    .slice(0, 10)
  const name = /^[A-Z]/.test(letters) ? letters : `X${letters}`.slice(0, 10)
  if (address === null) return isReserved(name) ? `${name}-COIN` : name
  const suffix = `-${digitsOf(address, { digits }).toUpperCase()}`
  return `${name.slice(0, Math.max(1, MAX_NAME_LENGTH - suffix.length))}${suffix}`
}

/** Commodities start with a letter. */
function tickerCommodity(ticker: string): string {
  const capitals = ticker.toUpperCase()
  const name = /^[A-Z]/.test(capitals) ? capitals : `X-${capitals}`
  return isReserved(name) ? `${name}-TOKEN` : name
}

/** Whether beancount does not accept a name of letters and digits as a commodity. */
const isReserved = (name: string) => name.length < 2 || ['TRUE', 'NULL', 'FALSE'].includes(name)

const quoteText = (text: string) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
