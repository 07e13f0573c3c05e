import { ExportError } from '../../core/model/errors.ts'
import type { AttachFee, ImportRow } from '../import-rows.ts'
import { assetKey } from '../movement.ts'
import type { ConvertOptions } from '../options.ts'
import type { Preset } from './preset.ts'
import type { RowWriter } from './row-writer.ts'

/**
 * Returns the function that attaches fees to other rows; undefined if every fee has a row of its own. Throws USAGE if the format has
 * no attached fees, or does not document how it counts them.
 */
export function attachFeesTo(
  { name, attachedFees }: Preset,
  fees: ConvertOptions['fees'],
  writer: RowWriter | undefined,
): AttachFee | undefined {
  if (fees === 'attach' && attachedFees === undefined) throw noAttachedFees(name)
  if (attachedFees === undefined || writer === undefined) return undefined
  if ((fees ?? (attachedFees.isDefault ? 'attach' : 'separate')) === 'separate') return undefined
  const { ofOtherAssets, ofSameAsset } = attachedFees
  return (row, fee) => {
    const isIncluded = ofSameAsset !== undefined && ofSameAsset !== 'beside'
    if (!isOfAsset(row, fee)) {
      if (!ofOtherAssets) return undefined
    } else if (ofSameAsset === undefined || (isIncluded && !canInclude(row, fee, ofSameAsset)))
      return undefined
    const attached = withFee(row, fee, isIncluded && isOfAsset(row, fee))
    // A row that is left out would take its fee with it.
    return writer.canWrite(attached) ? attached : undefined
  }
}

export const noAttachedFees = (name: string): ExportError =>
  new ExportError('USAGE', `${name}: fees have rows of their own, because no other way is documented`, {
    fix: 'Omit --fees, or use --fees separate.',
  })

/** Whether the row sends or receives the asset of the fee. */
function isOfAsset({ in: received, out: sent }: ImportRow, fee: ImportRow): boolean {
  const key = fee.out && assetKey(fee.out.asset)
  return [received, sent].some((leg) => leg !== undefined && assetKey(leg.asset) === key)
}

/** Whether the sent amount of a row can include the fee. */
function canInclude(row: ImportRow, fee: ImportRow, rule: 'included' | 'included if sent'): boolean {
  if (row.out === undefined || fee.out === undefined) return false
  if (row.kind === 'swap' && rule === 'included if sent') return false
  return assetKey(row.out.asset) === assetKey(fee.out.asset)
}

function withFee(row: ImportRow, fee: ImportRow, isFeeIncluded: boolean): ImportRow {
  const { out, movements } = row
  const added = isFeeIncluded ? (fee.out?.value ?? 0n) : 0n
  return {
    ...row,
    out: out && { asset: out.asset, value: out.value + added },
    fee: fee.out,
    isFeeIncluded,
    movements: [...movements, ...fee.movements],
  }
}
