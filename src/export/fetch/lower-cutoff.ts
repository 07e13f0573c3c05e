import type { Checkpoint } from '../../checkpoint/checkpoint.ts'
import type { Job } from '../../core/model/model.ts'
import { CLOCK_TOLERANCE_MS, type RunStats } from '../../core/model/run-stats.ts'

/**
 * Thrown by the first response that shows that this machine's clock is ahead of the service's: the cutoff was lowered, no
 * page has been stored yet, and reading must start over.
 */
export class CutoffLowered extends Error {}

/** Measures `finality` by the service's clock if that is behind this machine's. */
export async function requireCutoffBefore(
  { finalityMs, endBlock }: Pick<Job, 'finalityMs' | 'endBlock'>,
  checkpoint: Pick<Checkpoint, 'begunMs' | 'cutoffMs' | 'lowerCutoff'>,
  { service: { aheadMs = 0 } }: Pick<RunStats, 'service'>,
): Promise<void> {
  if (finalityMs === 0 || endBlock !== undefined) return
  const cutoffMs = checkpoint.begunMs + aheadMs - finalityMs
  if (checkpoint.cutoffMs - cutoffMs <= CLOCK_TOLERANCE_MS) return
  await checkpoint.lowerCutoff(cutoffMs)
  throw new CutoffLowered()
}
