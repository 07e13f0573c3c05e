import { createHash } from 'node:crypto'
import { isNft } from '../core/asset.ts'
import { digitsOf, safeText, tickerName } from './asset-name.ts'
import type { Refuses } from './beyond-digits.ts'
import { firstDigits } from './first-digits.ts'
import type { AccountRule } from './labels.ts'
import { type Omitted, omitted } from './line-writer.ts'
import type { Line } from './lines.ts'
import type { Asset, Movement } from './movement.ts'
import { type NumberRules, whyUnwritten, writeAmount } from './plain-number.ts'

/** A plain text accounting program's journal. */
export type JournalForm = {
  name: string
  title: string
  /** Accounts by what a movement is. */
  accounts: Accounts
  /** `digits` tell the wallet from others. */
  accountOf(movement: Movement, digits: string): string
  /** Accounts that users may name. */
  accountRule: AccountRule
  commodityOf(asset: Asset): string
  /** What stands before the first use of an account, and of a commodity. */
  declareAccount(account: string): string
  declareCommodity(commodity: string, asset: Asset): string
  head(movement: Movement): string
  posting(posting: Posting): string
  /** A line that says what one unit was worth on a day. */
  price(price: DayPrice): string
  /** Characters of a number, at most. */
  longestNumber: number
  numbers: NumberRules
  source: string
  rulesOf: string
}

type Accounts = Record<'fee' | 'mint' | 'burn' | 'own' | 'in' | 'out', string>

type Posting = { account: string; amount: string; commodity: string; movement: Movement; note: boolean }

type DayPrice = { day: string; commodity: string; price: string; currency: string }

export type JournalOptions = {
  form: JournalForm
  /** What tells a wallet from others, by address. */
  walletDigits: ReadonlyMap<string, string>
  /** Assets that the program cannot hold exactly, with the reason. */
  refuses: Refuses
  onOmitted: (omitted: Omitted) => void
}

/** Writes one entry a transaction; each movement balances by itself, so that no choice of wallets or days breaks one. */
export function createJournalWriter({ onOmitted, ...options }: JournalOptions) {
  const { form } = options
  const declared = new Set<string>()
  const declareOnce = (name: string, text: () => string) => {
    if (declared.has(name)) return ''
    declared.add(name)
    return text()
  }
  return {
    /** The text of one transaction's lines; empty where nothing of it can be written. */
    write(lines: readonly Line[]): string {
      const head: string[] = []
      const postings: string[] = []
      for (const { movements, label } of lines) {
        for (const movement of movements) {
          const written = writeMovement(movement, { ...options, label })
          if ('reason' in written) {
            onOmitted(omitted(movement, written.reason))
            continue
          }
          const { commodity, accounts, text } = written
          head.push(...accounts.map((account) => declareOnce(account, () => form.declareAccount(account))))
          head.push(declareOnce(`"${commodity}"`, () => form.declareCommodity(commodity, movement.asset)))
          postings.push(text)
        }
      }
      const first = lines[0]?.movements[0]
      if (first === undefined || postings.length === 0) return head.join('')
      return `${head.join('')}${form.head(first)}\n${postings.join('')}\n`
    },
  }
}

type Writing = Omit<JournalOptions, 'onOmitted'> & { label: string | undefined }

function writeMovement(movement: Movement, { form, walletDigits, refuses, label }: Writing) {
  const { asset, value, isOut, wallet } = movement
  const digits = walletDigits.get(wallet) ?? firstDigits(wallet)
  const refused = refuses(asset)
  if (refused !== undefined) return { reason: refused }
  const amount = writeAmount(value, asset.decimals, form.numbers)?.text
  if (amount === undefined) return { reason: whyUnwritten(asset.decimals, form.numbers) }
  if (amount.length > form.longestNumber)
    return { reason: `a number of more than ${form.longestNumber} characters` }
  const commodity = form.commodityOf(asset)
  const accounts = [form.accountOf(movement, digits), label ?? form.accounts[counterOf(movement)]] as const
  const [own, counter] = isOut ? [`-${amount}`, amount] : [amount, `-${amount}`]
  const text = [
    form.posting({ account: accounts[0], amount: own, commodity, movement, note: true }),
    form.posting({ account: accounts[1], amount: counter, commodity, movement, note: false }),
  ].join('')
  return { commodity, accounts, text }
}

function counterOf({ type, isOwn, isOut }: Movement): keyof Accounts {
  if (type === 'fee' || type === 'mint' || type === 'burn') return type
  if (isOwn || type === 'self') return 'own'
  return isOut ? 'out' : 'in'
}

const timeOf = ({ time }: Movement) => time.slice(11, 19)
const payeeOf = ({ method, type }: Movement) => safeText(method ?? '').slice(0, 60) || type
const walletName = ({ label }: Movement, digits: string) =>
  `${safeText(label ?? '').replace(/[:()[\]]/g, '')} ${digits}`.trim()

const ACCOUNTS: Accounts = {
  fee: 'expenses:gas',
  mint: 'equity:mint',
  burn: 'equity:burn',
  own: 'equity:own transfers',
  in: 'equity:external:in',
  out: 'equity:external:out',
}

/** Longer ids stand as a hash, and in full in a comment. */
const LONGEST_ID = 20
const hasLongId = ({ tokenId }: Asset) => (tokenId?.length ?? 0) > LONGEST_ID

function quotedName(asset: Asset): string {
  if (!hasLongId(asset)) return `"${tickerName(asset)}"`
  const hash = createHash('sha256').update(String(asset.tokenId)).digest('hex').slice(0, 12)
  return `"${tickerName({ ...asset, tokenId: `x${hash}` })}"`
}

/** Visible characters with single blanks between them, one part of an account. */
const PART = String.raw`[^\s:;\p{Cc}\p{Cf}]+( [^\s:;\p{Cc}\p{Cf}]+)*`

/** What hledger and ledger both take: some signs in front would make it a note, a virtual posting, or one that is pending. */
const PLAIN_ACCOUNT: AccountRule = {
  form: new RegExp(`^(?![([<!*])${PART}(:${PART})*$`, 'u'),
  expected:
    'an account such as expenses:rent: parts with : between them, single blanks, no tab, no ;, none of ( [ < ! * in front',
}

/** As beancount's own reader has it, capitals of other languages among them. */
const BEANCOUNT_ACCOUNT: AccountRule = {
  form: /^(Assets|Liabilities|Equity|Income|Expenses)(:[\p{Lu}0-9][\p{L}0-9-]*)+$/u,
  expected:
    'an account such as Expenses:Rent: Assets, Liabilities, Equity, Income or Expenses, then parts of letters, digits and -, each with : before it and a capital or digit in front',
}

const plainForm = {
  accounts: ACCOUNTS,
  accountRule: PLAIN_ACCOUNT,
  accountOf: (movement: Movement, digits: string) => `assets:crypto:${walletName(movement, digits)}`,
  commodityOf: quotedName,
  declareAccount: (account: string) => `account ${account}\n`,
  head: (movement: Movement) =>
    `${movement.time.slice(0, 10)} (${movement.transaction}) ${payeeOf(movement)}  ; time:${timeOf(movement)}`,
  posting: ({ account, amount, commodity, movement, note }: Posting) => {
    const id = hasLongId(movement.asset) ? `, id:${movement.asset.tokenId}` : ''
    const other = movement.counterparty === null ? '' : `, cp:${movement.counterparty}`
    const comment = note ? `  ; entry:${movement.entry}${other}${id}` : ''
    return `    ${account}  ${amount} ${commodity}${comment}\n`
  },
  price: ({ day, commodity, price, currency }: DayPrice) => `P ${day} ${commodity} ${price} ${currency}\n`,
}

const BEANCOUNT_ACCOUNTS: Accounts = {
  fee: 'Expenses:Gas',
  mint: 'Equity:Mint',
  burn: 'Equity:Burn',
  own: 'Equity:Own-Transfers',
  in: 'Equity:External:In',
  out: 'Equity:External:Out',
}

/** Capitals and digits, up to ten, then eight digits of the contract; all NFTs of a collection are one commodity. */
function beancountName({ address, symbol, digits }: Asset): string {
  const letters = (symbol ?? '')
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '')
    .slice(0, 10)
  const name = /^[A-Z]/.test(letters) ? letters : `X${letters}`.slice(0, 10)
  if (address === null)
    return name.length < 2 || ['TRUE', 'NULL', 'FALSE'].includes(name) ? `${name}-COIN` : name
  return `${name}-${digitsOf(address, { digits }).toUpperCase()}`
}

const beanText = (text: string) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`

/** All journals, in the order of the help. */
export const JOURNALS: readonly JournalForm[] = [
  {
    ...plainForm,
    name: 'hledger',
    title: 'hledger',
    declareCommodity: (commodity, { decimals }) =>
      `commodity 1000.${'0'.repeat(decimals ?? 0)} ${commodity}\n`,
    longestNumber: 600,
    numbers: {},
    source: 'hledger 1.25, tried',
    rulesOf: '2026-08-21',
  },
  {
    ...plainForm,
    name: 'ledger',
    title: 'ledger',
    declareCommodity: (commodity) => `commodity ${commodity}\n`,
    longestNumber: 250,
    numbers: {},
    source: 'ledger 3.3.0, tried',
    rulesOf: '2026-08-21',
  },
  {
    name: 'beancount',
    title: 'beancount 2 and 3',
    accounts: BEANCOUNT_ACCOUNTS,
    accountRule: BEANCOUNT_ACCOUNT,
    accountOf: (movement, digits) => {
      const name = walletName(movement, digits).replace(/[^A-Za-z0-9]+/g, '-')
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
    source: 'beancount 2.3.5, tried',
    rulesOf: '2026-08-21',
  },
]
