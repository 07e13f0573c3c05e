import type { Preset } from '../csv/preset.ts'
import { safeText } from './asset-name.ts'

/** Returns the name of a wallet with a label; its address if it has none. */
export type WalletNameOf = (address: string, label: string | null | undefined) => string

type WalletRules = Pick<Preset, 'excludedFromWallets'>

/**
 * Names wallets by their labels: sanitized, and without the characters that the program does not accept. The address follows
 * if the label equals the label or address of another wallet (ignoring case).
 */
export function walletNamer(
  wallets: readonly { address: string; label?: string | null | undefined }[],
  { excludedFromWallets }: WalletRules,
): WalletNameOf {
  const textOf = (label: string | null | undefined) =>
    safeText(
      excludedFromWallets === undefined ? (label ?? '') : (label ?? '').replace(excludedFromWallets, ''),
    )
  const owners = new Map<string, Set<string>>()
  for (const { address, label } of wallets)
    for (const name of [address, textOf(label).toLowerCase()])
      owners.set(name, (owners.get(name) ?? new Set()).add(address))
  return (address, label) => {
    const name = textOf(label)
    const key = name.toLowerCase()
    if (name === '' || key === address) return address
    return (owners.get(key)?.size ?? 0) > 1 ? `${name} ${address}` : name
  }
}
