import type { OpenedExport } from '../read/open-export.ts'
import type { Asset } from './movement.ts'
import { type Contracts, contractKey } from './names/contracts.ts'
import type { NumberRules } from './plain-number.ts'

/** Why a program cannot hold an asset, whatever the amount; undefined where it can. */
export type Refuses = (asset: Asset) => string | undefined

type Known = { opened: OpenedExport; contracts: Contracts }

/**
 * Refuses assets whose sums may have more digits than the program's numbers. Reads the whole ledger where the rules have such
 * a number, and nothing where they do not.
 */
export async function refusalOfSums(
  { name, numbers }: { name: string; numbers: NumberRules },
  { opened, contracts }: Known,
): Promise<Refuses> {
  if (numbers.maxSumDigits === undefined) return () => undefined
  const beyond = await assetsBeyond(numbers, { opened, contracts })
  const reason = `more than ${numbers.maxSumDigits} digits, which ${name} rounds`
  return (asset) => (beyond.has(contractKey(asset)) ? reason : undefined)
}

/**
 * Assets whose amounts, added up in any way, may have more digits than a program's numbers: by key, those of a collection
 * together. All of the export counts, so that each year's file has the same assets.
 */
async function assetsBeyond(
  { maxSumDigits = Number.POSITIVE_INFINITY, maxDecimals = 255 }: NumberRules,
  { opened: { eachFile, rows }, contracts }: Known,
): Promise<ReadonlySet<string>> {
  await rows.run(
    'CREATE OR REPLACE TABLE digits (type VARCHAR, address VARCHAR, decimals INTEGER, sum BIGNUM, zeros BIGINT)',
  )
  await eachFile(
    'ledger',
    (source) =>
      `INSERT INTO digits SELECT asset_type, asset_address, min(asset_decimals::INTEGER), ` +
      `sum(ltrim(value, '-')::BIGNUM), min(length(value) - length(rtrim(value, '0'))) ` +
      `FROM ${source} GROUP BY ALL`,
  )
  const found = await rows.all(
    'SELECT type, address, coalesce(min(decimals), 0)::INTEGER AS decimals, sum(sum)::VARCHAR AS sum, ' +
      'min(zeros)::INTEGER AS zeros FROM digits GROUP BY ALL',
  )
  const beyond = new Set<string>()
  for (const { type, address, sum, zeros, decimals } of found) {
    const key = contractKey({ type: type as Asset['type'], address: address as string | null })
    // What is cut off beyond the decimals leaves zeros.
    const empty = Math.max(Number(zeros), (contracts.get(key)?.decimals ?? Number(decimals)) - maxDecimals)
    if (String(sum).length - empty > maxSumDigits) beyond.add(key)
  }
  return beyond
}
