import { safeText } from '../asset-name.ts'
import type { Movement } from '../movement.ts'

/** Time of the day, to the second. */
export const timeOf = ({ time }: Movement) => time.slice(11, 19)

/** The method, as what an entry is about. */
export const payeeOf = ({ method, type }: Movement) => safeText(method ?? '').slice(0, 60) || type

/** The label of a wallet, without what parts accounts, and the digits that tell it from others. */
export const walletName = ({ label }: Movement, digits: string) =>
  `${safeText(label ?? '').replace(/[:()[\]]/g, '')} ${digits}`.trim()
