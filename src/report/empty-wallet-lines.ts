import type { EmptyWallets } from '../core/empty-wallets.ts'
import type { Wallet } from '../core/model.ts'
import { counted, grouped } from './words.ts'

/** Names wallets that showed no transaction at all: the address or the chain may be wrong. Nothing where all showed some. */
export function emptyWalletLines(empty: EmptyWallets | undefined, wallets: readonly Wallet[]): string[] {
  if (empty === undefined || empty.count === 0) return []
  const { count, addresses } = empty
  const more = count - addresses.length
  return [
    `  ${counted(count, 'wallet')} showed no transaction: another chain, or a wrong address?`,
    ...addresses.map((address) => {
      const label = wallets.find((wallet) => wallet.address === address)?.label ?? ''
      return `    ${address}  ${label}`.trimEnd()
    }),
    ...(more > 0 ? [`    and ${grouped(more)} more, in manifest.json with "transactions": 0`] : []),
  ]
}
