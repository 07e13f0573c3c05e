import { assetKey, type Movement } from './movement.ts'

/**
 * Assets whose amounts, added up in any way, may have more digits than a program's numbers: by key, those of a collection
 * together.
 */
export async function assetsBeyond(
  digits: number,
  transactions: AsyncIterable<readonly Movement[]>,
): Promise<ReadonlySet<string>> {
  const moved = new Map<string, { sum: bigint; zeros: number }>()
  for await (const movements of transactions) {
    for (const { asset, value } of movements) {
      const key = assetKey({ ...asset, tokenId: null })
      const known = moved.get(key) ?? { sum: 0n, zeros: Number.POSITIVE_INFINITY }
      moved.set(key, { sum: known.sum + value, zeros: Math.min(known.zeros, trailingZeros(String(value))) })
    }
  }
  const isBeyond = ({ sum, zeros }: { sum: bigint; zeros: number }) => String(sum).length - zeros > digits
  return new Set([...moved].filter(([, all]) => isBeyond(all)).map(([key]) => key))
}

const trailingZeros = (text: string) => text.length - text.replace(/0+$/, '').length
