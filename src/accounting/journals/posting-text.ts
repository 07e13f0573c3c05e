import type { Movement } from '../movement.ts'
import { methodName, safeText } from '../names/asset-name.ts'
import type { Posting } from './journal-format.ts'

/** The UTC time of day, to the second: 22:46:40. */
export const timeOfDay = ({ time }: Movement) => time.slice(11, 19)

/** What an entry is about: the called method or, if unknown, the type of the movement. */
export const purpose = ({ method, type }: Movement) => methodName(method ?? '') || type

/** The name of the party that an entry is with; empty if it has none. */
export const payee = ({ counterpartyName }: Movement) => safeText(counterpartyName ?? '')

/**
 * Builds the account name of a wallet: its label without the separators of account parts, then the digits that
 * distinguish it. The second `safeText` collapses spaces that removed characters leave, because two spaces end an
 * account name.
 */
export const walletAccountName = ({ label }: Movement, digits: string) =>
  `${safeText(safeText(label ?? '').replace(/[:()[\]]/g, ''))} ${digits}`.trim()

/** The ids of the ledger entries that a posting represents. */
export const entriesText = (movements: readonly Movement[]) => movements.map(({ entry }) => entry).join(' ')

/** The annotation for the price of a whole amount, which has the same syntax in all programs. */
export const totalPriceText = (price: Posting['totalPrice']) =>
  price === undefined ? '' : ` @@ ${price.amount} ${price.commodity}`
