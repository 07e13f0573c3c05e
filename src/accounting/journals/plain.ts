import { createHash } from 'node:crypto'
import type { AccountRule } from '../labels.ts'
import type { Asset, Movement } from '../movement.ts'
import { tickerName } from '../names/asset-name.ts'
import type { Accounts, DayPrice, Posting } from './journal-format.ts'
import { entriesText, payee, purpose, timeOfDay, totalPriceText, walletAccountName } from './posting-text.ts'

const ACCOUNTS: Accounts = {
  opening: 'equity:opening balances',
  fee: 'expenses:gas',
  mint: 'equity:mint',
  burn: 'equity:burn',
  own: 'equity:own transfers',
  in: 'equity:external:in',
  out: 'equity:external:out',
}

/** One part of an account: visible characters with single spaces between them. */
const ACCOUNT_PART = String.raw`[^\s:;\p{Cc}\p{Cf}]+( [^\s:;\p{Cc}\p{Cf}]+)*`

/**
 * The account syntax that both hledger and ledger accept. A first character of `[(<!*` would make the account a virtual
 * posting or set the status of the posting.
 */
const ACCOUNT_RULE: AccountRule = {
  pattern: new RegExp(`^(?![([<!*])${ACCOUNT_PART}(:${ACCOUNT_PART})*$`, 'u'),
  expected:
    'an account such as expenses:rent: parts separated by :, single spaces, no tab, no ;, not starting with ( [ < ! or *',
}

/** The parts of the format that hledger and ledger have in common. */
export const plainForm = {
  accounts: ACCOUNTS,
  accountRule: ACCOUNT_RULE,
  accountOf: (movement: Movement, digits: string) => `assets:crypto:${walletAccountName(movement, digits)}`,
  commodityOf: quotedName,
  declareAccount: (account: string) => `account ${account}\n`,
  entryHeader: (movement: Movement) =>
    `${movement.time.slice(0, 10)} ${codeText(movement)}${[payee(movement), purpose(movement)].filter(Boolean).join(' | ')}  ; time:${timeOfDay(movement)}${chainTag(movement)}`,
  posting: ({ account, amount, commodity, totalPrice, movements }: Posting) =>
    `    ${account}  ${amount} ${commodity}${totalPriceText(totalPrice)}${commentOf(movements)}\n`,
  price: ({ day, commodity, price, currency }: DayPrice) => `P ${day} ${commodity} ${price} ${currency}\n`,
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
