import type { TableName } from '../../core/table/index.ts'
import { against } from '../diagnostics.ts'
import type { Values } from './config-sources.ts'
import { missing, type Settling } from './resolving.ts'

/** What a block listing has (interface section 4.1): transactions, and nothing of what happened in them. */
export const BLOCK_TABLES: readonly TableName[] = ['transactions']

/** The rules of a job of blocks: a range with both ends, no wallets, and no table but `transactions`. */
export function complainOfBlocks(values: Values, settling: Settling): void {
  const { startBlock, endBlock, addresses, addressesFile, tables } = values
  if (startBlock === undefined) missing('startBlock', `the first block ${FOR_BLOCKS}`, settling)
  if (endBlock === undefined) missing('endBlock', `the block to stop before ${FOR_BLOCKS}`, settling)
  for (const wallets of [addresses, addressesFile]) {
    if (wallets !== undefined && !wallets.given.isRefused)
      settling.complain(against(wallets.given, `no wallets, for whole blocks are exported ${FOR_BLOCKS}`))
  }
  const others = tables?.value?.filter((name) => !BLOCK_TABLES.includes(name)) ?? []
  if (tables !== undefined && others.length > 0) {
    const expected = `transactions alone, for a block listing has nothing else ${FOR_BLOCKS}`
    settling.complain({ ...against(tables.given, expected), found: others.join(', ') })
  }
}

const FOR_BLOCKS = '(the kind is blocks)'
