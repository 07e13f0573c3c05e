import { isNft } from '../../core/model/asset.ts'
import type { AccountRule } from '../labels.ts'
import type { Asset } from '../movement.ts'
import { digitsOf, safeText } from '../names/asset-name.ts'
import type { Accounts, JournalForm } from './journal-format.ts'
import { payeeOf, timeOf, walletName } from './payee.ts'

const ACCOUNTS: Accounts = {
  fee: 'Expenses:Gas',
  mint: 'Equity:Mint',
  burn: 'Equity:Burn',
  own: 'Equity:Own-Transfers',
  in: 'Equity:External:In',
  out: 'Equity:External:Out',
}

/** As beancount's own reader has it, capitals of other languages among them. */
const ACCOUNT_RULE: AccountRule = {
  form: /^(Assets|Liabilities|Equity|Income|Expenses)(:[\p{Lu}0-9][\p{L}0-9-]*)+$/u,
  expected:
    'an account such as Expenses:Rent: Assets, Liabilities, Equity, Income or Expenses, then parts of letters, digits and -, each with : before it and a capital or digit in front',
}

export const beancount: JournalForm = {
  name: 'beancount',
  title: 'beancount 2 and 3',
  accounts: ACCOUNTS,
  accountRule: ACCOUNT_RULE,
  accountOf: (movement, digits) => {
    const name = walletName(movement, digits)
      .replace(/[^A-Za-z0-9]+/g, '-')
      .replace(/^-/, '')
    return `Assets:Crypto:${name.charAt(0).toUpperCase()}${name.slice(1)}`
  },
  commodityOf: beancountName,
  declareAccount: (account) => `1970-01-01 open ${account}\n`,
  declareCommodity: (commodity, { address, symbol, decimals }) =>
    [
      `1970-01-01 commodity ${commodity}\n`,
      ...(address === null ? [] : [`  contract: ${beanText(address)}\n`]),
      ...(symbol === null ? [] : [`  symbol: ${beanText(safeText(symbol))}\n`]),
      ...(decimals === null ? [] : [`  decimals: ${decimals}\n`]),
    ].join(''),
  head: (movement) =>
    `${movement.time.slice(0, 10)} * ${beanText(payeeOf(movement))} ^${movement.transaction}\n  time: ${beanText(timeOf(movement))}`,
  posting: ({ account, amount, commodity, movement, note }) => {
    const id = isNft(movement.asset) ? `    id: ${beanText(String(movement.asset.tokenId))}\n` : ''
    return `  ${account}  ${amount} ${commodity}\n${note ? `    entry: ${beanText(movement.entry)}\n${id}` : ''}`
  },
  price: ({ day, commodity, price, currency }) => `${day} price ${commodity} ${price} ${currency}\n`,
  longestNumber: 250,
  numbers: { maxSumDigits: 28 },
  source: 'beancount 2.3.5, tested',
  rulesOf: '2026-08-21',
}

/** beancount 2 takes names of up to 24 characters. */
const LONGEST_NAME = 24

/** Capitals and digits, up to ten, then digits of the contract; all NFTs of a collection are one commodity. */
function beancountName({ address, symbol, digits }: Asset): string {
  const letters = (symbol ?? '')
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '')
    .slice(0, 10)
  const name = /^[A-Z]/.test(letters) ? letters : `X${letters}`.slice(0, 10)
  if (address === null)
    return name.length < 2 || ['TRUE', 'NULL', 'FALSE'].includes(name) ? `${name}-COIN` : name
  const behind = `-${digitsOf(address, { digits }).toUpperCase()}`
  return `${name.slice(0, Math.max(1, LONGEST_NAME - behind.length))}${behind}`
}

const beanText = (text: string) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
