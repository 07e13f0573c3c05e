import { join } from 'node:path'
import type { CheckpointIdentity } from '../checkpoint/checkpoint-identity.ts'
import { PRIVATE_FOLDER } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'

/** Where a job's output keeps its checkpoint and lock. */
export function privateFolder({ output }: Job): string {
  return join(output, PRIVATE_FOLDER)
}

/** What pages must have in common with a job to be continued by it. */
export function checkpointIdentity({
  kind,
  chain,
  startBlock,
  endBlock,
  finalityMs,
}: Job): CheckpointIdentity {
  const common = { chain, startBlock, endBlock: endBlock ?? null, finalityMs }
  return kind === 'blocks' ? { kind, ...common } : common
}
