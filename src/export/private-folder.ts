import { join } from 'node:path'
import type { CheckpointIdentity } from '../checkpoint/checkpoint-identity.ts'
import { DEFAULT_API } from '../core/model/api.ts'
import { PRIVATE_FOLDER } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'

/** Path of the folder for the checkpoint and the lock of a job's output. */
export function privateFolder({ output }: Job): string {
  return join(output, PRIVATE_FOLDER)
}

/** The identity that a checkpoint must have so that the job can resume it. */
export function checkpointIdentity({
  kind,
  chain,
  startBlock,
  endBlock,
  finalityMs,
  internals,
  service: { api },
}: Job): CheckpointIdentity {
  const named = api === DEFAULT_API ? {} : { api }
  const common = { chain, startBlock, endBlock: endBlock ?? null, finalityMs, ...named }
  if (kind === 'blocks') return { kind, ...common }
  return internals === 'full' ? { ...common, internals } : common
}
