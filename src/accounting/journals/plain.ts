import { createHash } from 'node:crypto'
import type { Asset, Movement } from '../movement.ts'
import { tickerName } from '../names/names.ts'
import {
  entriesText,
  type JournalFormat,
  payee,
  purpose,
  timeOfDay,
  totalPriceText,
  walletAccountName,
} from './journal-format.ts'

/** One part of an account: visible characters with single spaces between them. */
const ACCOUNT_PART = String.raw`[^\s:;\p{Cc}\p{Cf}]+( [^\s:;\p{Cc}\p{Cf}]+)*`

/** What hledger and ledger have in common. */
const PLAIN: Omit<JournalFormat, 'name' | 'title' | 'declareCommodity' | 'maxNumberLength' | 'source'> = {
  accounts: {
    opening: 'equity:opening balances',
    fee: 'expenses:gas',
    mint: 'equity:mint',
    burn: 'equity:burn',
    own: 'equity:own transfers',
    in: 'equity:external:in',
    out: 'equity:external:out',
  },
  // A first character of `[(<!*` would make the account a virtual posting or set the status of the posting.
  accountRule: {
    pattern: new RegExp(`^(?![([<!*])${ACCOUNT_PART}(:${ACCOUNT_PART})*$`, 'u'),
    expected:
      'an account such as expenses:rent: parts separated by :, single spaces, no tab, no ;, not starting with ( [ < ! or *',
  },
  accountOf: (movement, digits) => `assets:crypto:${walletAccountName(movement, digits)}`,
  commodityOf: quotedName,
  declareAccount: (account) => `account ${account}\n`,
  entryHeader: (movement) =>
    `${movement.time.slice(0, 10)} ${codeText(movement)}${[payee(movement), purpose(movement)].filter(Boolean).join(' | ')}  ; time:${timeOfDay(movement)}${chainTag(movement)}`,
  posting: ({ account, amount, commodity, totalPrice, movements }) =>
    `    ${account}  ${amount} ${commodity}${totalPriceText(totalPrice)}${commentOf(movements)}\n`,
  header: () => NO_COST,
  price: ({ day, commodity, price, currency }) => `P ${day} ${commodity} ${price} ${currency}\n`,
  numbers: {},
  rulesOf: '2026-08-21',
}

const NO_COST = `; Amounts that are sent have no cost: it depends on a method (FIFO, average) that is yours to choose.
; balance -B therefore shows what came in from outside, with swaps at the amounts that were given for them.

`

export const hledger: JournalFormat = {
  ...PLAIN,
  name: 'hledger',
  title: 'hledger',
  declareCommodity: (commodity, { decimals }) => `commodity 1000.${'0'.repeat(decimals ?? 0)} ${commodity}\n`,
  maxNumberLength: 600,
  source: 'hledger 1.25, tested',
}

export const ledger: JournalFormat = {
  ...PLAIN,
  name: 'ledger',
  title: 'ledger',
  declareCommodity: (commodity) => `commodity ${commodity}\n`,
  maxNumberLength: 250,
  source: 'ledger 3.3.0, tested',
}

const chainTag = ({ chainName }: Movement) => (chainName === undefined ? '' : `, chain:${chainName}`)

const codeText = ({ transaction }: Movement) => (transaction === '' ? '' : `(${transaction}) `)

function commentOf(movements: readonly Movement[]): string {
  const [movement] = movements
  if (movement === undefined) return ''
  const id = hasLongId(movement.asset) ? `, id:${movement.asset.tokenId}` : ''
  let others = ''
  for (const { counterparty, via } of movements)
    for (const other of [counterparty, via]) if (other && !others.includes(other)) others += ` ${other}`
  return `  ; entry:${entriesText(movements)}${others === '' ? '' : `, cp:${others.slice(1)}`}${id}`
}

/** Longer token ids are replaced by a hash in commodity names, and written in full in a comment. */
const MAX_ID_LENGTH = 20
const hasLongId = ({ tokenId }: Asset) => (tokenId?.length ?? 0) > MAX_ID_LENGTH

function quotedName(asset: Asset): string {
  if (!hasLongId(asset)) return `"${tickerName(asset)}"`
  const hash = createHash('sha256').update(String(asset.tokenId)).digest('hex').slice(0, 12)
  return `"${tickerName({ ...asset, tokenId: `x${hash}` })}"`
}
