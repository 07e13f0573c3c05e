import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ConvertOptions } from './options.ts'
import { MULTI_FILE_WRITERS } from './presets/index.ts'

/** The end of a wallet's file: its address and the extension. */
const OF_WALLET = /0x[0-9a-f]{40}(\.[a-z]+)$/

/**
 * Finds files of wallets in the folder of a conversion that it did not write: those of an earlier conversion, whose wallets
 * have no movements now, or another label. Nothing if the conversion does not write a file for each wallet.
 *
 * @param extension - that of the files of the conversion, with the dot
 */
export async function findStaleFiles(
  { to, out, perWallet = false }: Pick<ConvertOptions, 'to' | 'out' | 'perWallet'>,
  extension: string,
  written: readonly string[],
): Promise<string[]> {
  const isPerWallet = perWallet || MULTI_FILE_WRITERS.some((one) => one.name === to && one.isPerWallet)
  if (out === undefined || !isPerWallet) return []
  const isWritten = new Set(written)
  const names = await readdir(out).catch(() => [])
  return names
    .filter((name) => OF_WALLET.exec(name)?.[1] === extension)
    .map((name) => join(out, name))
    .filter((path) => !isWritten.has(path))
    .sort()
}
