import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type FeeDetails, feeKey, type ListedPrice, type PaidPrice } from '../core/model/fees.ts'
import { isRecordHeader } from './record-header.ts'
import { openRecordLog, type RecordLog } from './record-log.ts'

/** What the checkpoint knows about fees. Blocks and transactions are identified by their hashes. */
export type FeeState = {
  listedPrice: ListedPrice | undefined
  /** By `feeKey`, details that were requested for their fee. */
  details: Map<string, PaidPrice>
  /** By `feeKey`, details that were requested only as a probe. */
  probes: Map<string, FeeDetails>
}

export const emptyFeeState = (): FeeState => ({
  listedPrice: undefined,
  details: new Map(),
  probes: new Map(),
})

/** A transaction in the block that contains it, and its details. */
type StoredFee = FeeDetails & { hash: string; blockHash: string; probe?: true | undefined }

export type FeeCheckpoint = {
  fees: Readonly<Pick<FeeState, 'listedPrice'>> & {
    details: ReadonlyMap<string, PaidPrice>
    probes: ReadonlyMap<string, FeeDetails>
  }
  /** Stores details. Those of a probe count only once they are stored again without `probe`. */
  addFee(fee: StoredFee): Promise<void>
  /** Stores the result of a probe, for this run and later ones. */
  setListedPrice(price: ListedPrice): Promise<void>
}

function applyFee(state: FeeState, { hash, blockHash, probe, price, cap, extra }: StoredFee): void {
  const key = feeKey(blockHash, hash)
  if (probe) state.probes.set(key, { price, cap, extra })
  else state.details.set(key, extra === undefined ? { price } : { price, extra })
}

function applyListedPrice(state: FeeState, { price }: { price: ListedPrice }): void {
  state.listedPrice = price
}

/** Applies a record about fees. Returns false for any other record. */
export function replayFeeRecord(state: FeeState, header: Record<string, unknown>): boolean {
  if (header.kind === 'fee') applyFee(state, header as unknown as StoredFee)
  else if (header.kind === 'listed') applyListedPrice(state, header as unknown as { price: ListedPrice })
  else return false
  return true
}

const EMPTY_BODY = Buffer.alloc(0)

export function feeCheckpointOn(log: Pick<RecordLog, 'append'>, fees: FeeState): FeeCheckpoint {
  return {
    fees,
    addFee: async (fee) => {
      await log.append({ kind: 'fee', ...fee }, EMPTY_BODY)
      applyFee(fees, fee)
    },
    setListedPrice: async (price) => {
      await log.append({ kind: 'listed', price }, EMPTY_BODY)
      applyListedPrice(fees, { price })
    },
  }
}

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
