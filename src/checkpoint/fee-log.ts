import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { emptyFeeState, type FeeCheckpoint, feeCheckpointOn, replayFeeRecord } from './fee-state.ts'
import { isRecordHeader } from './record-header.ts'
import { openRecordLog } from './record-log.ts'

const FEE_LOG_FILE = 'fees.log'

/** Details of transactions that the coordinator of a queue run has requested, without pages. */
export type FeeLog = FeeCheckpoint & { close(): Promise<void> }

/** Opens or creates the log in an output's private folder. Throws OUTPUT_FAILED. */
export async function openFeeLog(folder: string): Promise<FeeLog> {
  const state = emptyFeeState()
  const log = await openRecordLog(join(folder, FEE_LOG_FILE), {
    onRecord: (header) => isRecordHeader(header) && replayFeeRecord(state, header),
    onDamage: () => {},
  })
  return { ...feeCheckpointOn(log, state), close: () => log.close() }
}

/** Removes the log at the end of a run. */
export async function removeFeeLog(folder: string): Promise<void> {
  await rm(join(folder, FEE_LOG_FILE), { force: true })
}
