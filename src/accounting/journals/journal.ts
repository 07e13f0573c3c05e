import { type Omitted, omitted } from '../csv/import-row-writer.ts'
import { whyUnwritten, writeAmount } from '../format-amount.ts'
import type { Line } from '../import-rows.ts'
import type { Movement } from '../movement.ts'
import { firstDigits } from '../names/first-digits.ts'
import type { Refuses } from '../precision-limits.ts'
import type { Accounts, JournalForm } from './journal-format.ts'

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
          for (const each of accounts.map((account) =>
            declareOnce(account, () => form.declareAccount(account)),
          ))
            head.push(each)
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
