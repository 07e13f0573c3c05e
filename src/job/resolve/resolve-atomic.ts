import { atomicNetworkOf } from '../../core/model/chains.ts'
import type { Job } from '../../core/model/model.ts'
import { ATOMIC_TABLE } from '../../core/table/index.ts'
import { invalidValue } from '../diagnostics.ts'
import type { Values } from './config-sources.ts'
import type { Resolving } from './resolving.ts'

/** Checks `atomic`: only wallets of the C-Chain have atomic transactions, and the table of them needs the field. */
export function reportBadAtomic(
  { atomic, tables }: Values,
  { kind, chain }: Pick<Job, 'kind' | 'chain'>,
  { report }: Resolving,
): void {
  if (atomic?.value === true) {
    if (kind === 'blocks')
      report(invalidValue(atomic.raw, 'false: blocks do not list atomic transactions (the kind is blocks)'))
    else if (chain !== '' && atomicNetworkOf(chain) === undefined)
      report(invalidValue(atomic.raw, 'false: only the C-Chain (43114, 43113) has atomic transactions'))
  } else if (kind === 'wallets' && tables?.value?.includes(ATOMIC_TABLE) === true) {
    const expected = `no ${ATOMIC_TABLE} without atomic: true`
    report({ ...invalidValue(tables.raw, expected), found: ATOMIC_TABLE })
  }
}
