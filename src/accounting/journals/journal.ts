import { type Omitted, toOmitted } from '../csv/import-row-writer.ts'
import { formatAmount, unformattableReason } from '../format-amount.ts'
import type { ImportRow } from '../import-rows.ts'
import type { Movement } from '../movement.ts'
import { firstDigits } from '../names/first-digits.ts'
import type { RefusalReasonOf } from '../precision-limits.ts'
import type { Accounts, JournalFormat } from './journal-format.ts'

export type JournalOptions = {
  format: JournalFormat
  /** Digits that distinguish each wallet from the others, by address. */
  walletDigits: ReadonlyMap<string, string>
  /** Returns the reason if the program cannot represent an asset exactly. */
  refusalReasonOf: RefusalReasonOf
  onOmitted: (omitted: Omitted) => void
}

/**
 * Creates a writer of one entry per transaction. Each movement has two postings that balance, so an entry balances for
 * any selection of wallets and days.
 */
export function createJournalWriter({ onOmitted, ...options }: JournalOptions) {
  const { format } = options
  const declared = new Set<string>()
  const declareOnce = (name: string, text: () => string) => {
    if (declared.has(name)) return ''
    declared.add(name)
    return text()
  }
  return {
    /** Returns the entry of one transaction with the declarations it needs; empty if none of its movements can be written. */
    write(rows: readonly ImportRow[]): string {
      const declarations: string[] = []
      const postings: string[] = []
      for (const { movements, label } of rows) {
        for (const movement of movements) {
          const formatted = formatMovement(movement, { ...options, label })
          if ('reason' in formatted) {
            onOmitted(toOmitted(movement, formatted.reason))
            continue
          }
          const { commodity, accounts, text } = formatted
          for (const declaration of accounts.map((account) =>
            declareOnce(account, () => format.declareAccount(account)),
          ))
            declarations.push(declaration)
          declarations.push(
            declareOnce(`"${commodity}"`, () => format.declareCommodity(commodity, movement.asset)),
          )
          postings.push(text)
        }
      }
      const first = rows[0]?.movements[0]
      if (first === undefined || postings.length === 0) return declarations.join('')
      const party = rows.flatMap(({ movements }) => movements).find(isNamedParty)
      return `${declarations.join('')}${format.entryHeader({ ...first, counterpartyName: party?.counterpartyName })}\n${postings.join('')}\n`
    },
  }
}

/** Whether the counterparty has a name and is not a wallet of the job, whose side is in the entry too. */
const isNamedParty = ({ counterpartyName, isOwn }: Movement) => counterpartyName !== undefined && !isOwn

type MovementContext = Omit<JournalOptions, 'onOmitted'> & { label: string | undefined }

function formatMovement(
  movement: Movement,
  { format, walletDigits, refusalReasonOf, label }: MovementContext,
) {
  const { asset, value, isOut, wallet } = movement
  const digits = walletDigits.get(wallet) ?? firstDigits(wallet)
  const refusal = refusalReasonOf(asset)
  if (refusal !== undefined) return { reason: refusal }
  const amount = formatAmount(value, asset.decimals, format.numbers)?.text
  if (amount === undefined) return { reason: unformattableReason(asset.decimals, format.numbers) }
  if (amount.length > format.maxNumberLength)
    return { reason: `a number of more than ${format.maxNumberLength} characters` }
  const commodity = format.commodityOf(asset)
  const accounts = [
    format.accountOf(movement, digits),
    label ?? format.accounts[counterAccount(movement)],
  ] as const
  const [own, counter] = isOut ? [`-${amount}`, amount] : [amount, `-${amount}`]
  const text = [
    format.posting({ account: accounts[0], amount: own, commodity, movement, hasComment: true }),
    format.posting({ account: accounts[1], amount: counter, commodity, movement, hasComment: false }),
  ].join('')
  return { commodity, accounts, text }
}

function counterAccount({ type, isOwn, isOut }: Movement): keyof Accounts {
  if (type === 'fee' || type === 'mint' || type === 'burn') return type
  if (isOwn || type === 'self') return 'own'
  return isOut ? 'out' : 'in'
}
