// Deliberately independent of src: prices and fees as CONTRACT sections 2 and 5.7 define them.
import type { FeeMode } from '../../../src/core/model/model.ts'
import type { TransactionContent } from './chain-types.ts'
import { listedPrice } from './listing-service.ts'

/** How the fees of an export were determined. */
export type FeeRules = { fees: FeeMode; listsFeeCap: boolean }

export type ExpectedFee = { listed: string; effective: string | null; fee: string }

/** The listed price, the price that was paid if the export knows it, and the fee, in wei. */
export function feeOf(
  content: TransactionContent,
  { fees, listsFeeCap, isOwn }: FeeRules & { isOwn: boolean },
): ExpectedFee {
  const listed = listedPrice(content, { listsFeeCap })
  const isKnown = content.type < 2 || (isOwn && fees !== 'listed')
  const price = isKnown ? content.gasPrice : listed
  const fee = (BigInt(content.gasUsed) * BigInt(price)).toString()
  return { listed, effective: isKnown ? price : null, fee }
}
