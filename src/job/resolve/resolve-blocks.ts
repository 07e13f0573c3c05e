import type { TableName } from '../../core/table/index.ts'
import { invalidValue } from '../diagnostics.ts'
import type { Values } from './config-sources.ts'
import { type Resolving, reportMissing } from './resolving.ts'

/** Tables of a block job: a block listing (interface section 4.1) has no transfers and no internal transactions. */
export const BLOCK_TABLES: readonly TableName[] = ['transactions']

/** Checks a block job. It needs both ends of the range, and allows no wallets and only the `transactions` table. */
export function reportBadBlocks(values: Values, resolving: Resolving): void {
  const { startBlock, endBlock, addresses, addressesFile, tables } = values
  if (startBlock === undefined)
    reportMissing('startBlock', `the first block ${BECAUSE_KIND_IS_BLOCKS}`, resolving)
  if (endBlock === undefined)
    reportMissing('endBlock', `the block to stop before ${BECAUSE_KIND_IS_BLOCKS}`, resolving)
  for (const wallets of [addresses, addressesFile]) {
    if (wallets !== undefined && !wallets.raw.isInvalid)
      resolving.report(
        invalidValue(wallets.raw, `no wallets, because whole blocks are exported ${BECAUSE_KIND_IS_BLOCKS}`),
      )
  }
  const others = tables?.value?.filter((name) => !BLOCK_TABLES.includes(name)) ?? []
  if (tables !== undefined && others.length > 0) {
    const expected = `only transactions, because a block listing contains nothing else ${BECAUSE_KIND_IS_BLOCKS}`
    resolving.report({ ...invalidValue(tables.raw, expected), found: others.join(', ') })
  }
}

const BECAUSE_KIND_IS_BLOCKS = '(the kind is blocks)'
