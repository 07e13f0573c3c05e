import type { Movement } from '../movement.ts'
import { methodName, safeText } from '../names/asset-name.ts'

/** Time of the day, to the second. */
export const timeOfDay = ({ time }: Movement) => time.slice(11, 19)

/** The method, as what an entry is about. */
export const payee = ({ method, type }: Movement) => methodName(method ?? '') || type

/**
 * The label of a wallet, without what parts accounts, and the digits that tell it from others. Two blanks would end an account:
 * what was around a sign that is taken out becomes one.
 */
export const walletAccountName = ({ label }: Movement, digits: string) =>
  `${safeText(safeText(label ?? '').replace(/[:()[\]]/g, ''))} ${digits}`.trim()
