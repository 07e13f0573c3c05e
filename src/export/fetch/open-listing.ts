import { ExportError } from '../../core/model/errors.ts'
import { isAtomicListing, walletOf } from '../../core/model/listings.ts'
import type { Job } from '../../core/model/model.ts'
import { sourceOf } from '../../sources/index.ts'
import type { WalletListing } from '../../sources/source.ts'

/** Opens a listing of a wallet by its name: that of its transactions, or that of its atomic transactions. */
export function openListing(
  { chain, internals, service }: Pick<Job, 'chain' | 'internals' | 'service'>,
  name: string,
): WalletListing {
  const wallet = { chain, address: walletOf(name) }
  const source = sourceOf(service.api)
  if (!isAtomicListing(name)) return source.openWallet({ ...wallet, internals })
  if (source.openAtomic !== undefined) return source.openAtomic(wallet)
  throw new ExportError('USAGE', 'this API does not list atomic transactions', {
    fix: 'Leave atomic out of the job.',
  })
}
