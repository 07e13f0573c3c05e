import type { Checkpoint } from '../../checkpoint/checkpoint.ts'
import { type Gap, gapsOutside, gapsWithin } from '../../core/model/gaps.ts'
import type { Coverage, Manifest, OpeningBalance } from '../../core/model/manifest.ts'
import type { Job } from '../../core/model/model.ts'
import { smallest } from '../../core/platform/extremes.ts'
import type { RequestContext } from '../../http/request.ts'
import { openListing } from '../fetch/reading.ts'
import type { PreviousExport } from './previous-export.ts'

/** The gaps of a wallet in the export, in the form of the checkpoint. */
const exportedGaps = ({ gaps = [] }: Coverage): Gap[] =>
  gaps.map(({ listing, fromBlock, toBlock, reason }) => ({ listing, from: fromBlock, to: toBlock, reason }))

/** By wallet, the gaps of an export: those of the retained blocks, and those of the pages of later ones. */
export function gapsOfExport(
  checkpoint: Pick<Checkpoint, 'gaps'>,
  { manifest, from }: Pick<PreviousExport, 'manifest' | 'from'>,
  wallets: readonly string[],
): ReadonlyMap<string, readonly Gap[]> {
  const coverage = new Map(manifest?.coverage.map((wallet) => [wallet.address, wallet]))
  return new Map(
    wallets.map((address) => {
      const exported = coverage.get(address)
      const retained = exported === undefined ? [] : gapsWithin(exportedGaps(exported), { from: 0, to: from })
      return [address, [...retained, ...gapsOutside(checkpoint.gaps(address), { from: 0, to: from })]]
    }),
  )
}

type GapRetry = { job: Job; requestContext: RequestContext; checkpoint: Checkpoint }

/**
 * Reopens the gaps that the service lists now. Gaps of equal listing, blocks and reason have one cause: one request, for
 * the first wallet, decides about all of them.
 */
export async function reopenReadableGaps({ job, requestContext, checkpoint }: GapRetry): Promise<void> {
  const causes = new Map<string, { gap: Gap; wallets: string[] }>()
  for (const { address } of job.wallets)
    for (const gap of checkpoint.gaps(address)) {
      const key = JSON.stringify([gap.listing, gap.from, gap.to, gap.reason])
      const cause = causes.get(key) ?? { gap, wallets: [] }
      causes.set(key, cause)
      cause.wallets.push(address)
    }
  for (const { gap, wallets } of causes.values()) {
    const [first = ''] = wallets
    if (!(await openListing(job, first).canRead?.(requestContext, gap))) continue
    for (const address of wallets) await checkpoint.reopen(address, { from: gap.from, to: gap.to })
  }
}

/** The first block that the export lacks and the checkpoint has, or will have; undefined if there is none. */
export function firstClosedBlock(
  manifest: Manifest | undefined,
  { gaps, base }: Pick<Checkpoint, 'gaps' | 'base'>,
): number | undefined {
  const closed = (manifest?.coverage ?? []).flatMap((wallet) => {
    const open = gaps(wallet.address)
    return exportedGaps(wallet).flatMap((gap) =>
      open
        .filter(({ listing }) => listing === gap.listing)
        .reduce((rest, gap) => gapsOutside(rest, gap), gapsOutside([gap], { from: 0, to: base })),
    )
  })
  return closed.length === 0 ? undefined : smallest(closed.map(({ from }) => from))
}

/** The coins that wallets held before the first block: those that pages state, or that the export has from earlier runs. */
export function openingOfExport(
  checkpoint: Pick<Checkpoint, 'opening'>,
  { manifest, from }: Pick<PreviousExport, 'manifest' | 'from'>,
  wallets: readonly string[],
): OpeningBalance[] {
  const retained = from > (manifest?.job.startBlock ?? from) ? (manifest?.opening ?? []) : []
  return wallets.flatMap((walletAddress) => {
    const value = checkpoint.opening(walletAddress)
    return value === undefined
      ? retained.filter((balance) => balance.walletAddress === walletAddress)
      : nativeOpening(walletAddress, value)
  })
}

/** An opening balance of the native coin. */
export const nativeOpening = (walletAddress: string, value: string): OpeningBalance => {
  return { walletAddress, assetType: 'native', assetAddress: null, tokenId: null, value }
}
