import { randomUUID } from 'node:crypto'
import { ExportError } from '../core/model/errors.ts'
import {
  describeProcess,
  type Holder,
  isAlive,
  machineId,
  parseHolder,
} from '../core/platform/lock/holder.ts'
import type { Bucket } from './bucket.ts'

/** Who holds a place in an object store, as long as the object says so and is renewed. */
export type Lease = {
  /** Throws OUTPUT_LOCKED where it is lost; asks the store where it was not renewed in time (a suspended process). */
  require(): Promise<void>
  release(): Promise<void>
}

export const LEASE_FILE = '.walletlake/lock.json'
/** A lease that nobody has renewed for so long is free; it is renewed three times as often. */
const TTL_MS = 60_000
const RENEW_MS = TTL_MS / 3

/** Takes the place for this process. Throws OUTPUT_LOCKED where another run holds it, and says who. */
export async function acquireLease(bucket: Bucket): Promise<Lease> {
  const machine = await machineId()
  const holder = { ...(await describeProcess()), machine, lease: randomUUID() }
  const text = () => JSON.stringify({ ...holder, renewedAt: new Date().toISOString() })
  let renewedMs = bucket.now()
  let version = await acquireVersion(bucket, { text, machine })
  const lost = new AbortController()
  const renew = singleFlight(async () => {
    const startedMs = bucket.now()
    const next = await bucket.putText(LEASE_FILE, text(), { ifVersion: version })
    if (next === undefined) return lost.abort(leaseHeldError(bucket, await holderOf(bucket)))
    version = next
    renewedMs = startedMs
  })
  // A fault of the store is met again by whatever is written next.
  const timer = setInterval(() => void renew().catch(() => undefined), RENEW_MS)
  timer.unref()
  return {
    require: async () => {
      if (bucket.now() - renewedMs > 2 * RENEW_MS) await renew()
      lost.signal.throwIfAborted()
    },
    release: async () => {
      clearInterval(timer)
      if (!lost.signal.aborted && (await holderOf(bucket))?.lease === holder.lease)
        await bucket.remove([LEASE_FILE])
    },
  }
}

/** Who asks while one is under way waits for that one: two at once would refuse each other. */
function singleFlight(task: () => Promise<void>): () => Promise<void> {
  let inFlight: Promise<void> | undefined
  return () => {
    inFlight ??= task().finally(() => {
      inFlight = undefined
    })
    return inFlight
  }
}

type LeaseRequest = { text: () => string; machine: string | undefined }

/** The version of the lease that was written. */
async function acquireVersion(bucket: Bucket, { text, machine }: LeaseRequest): Promise<string> {
  for (;;) {
    const version = await bucket.putText(LEASE_FILE, text(), { ifAbsent: true })
    if (version !== undefined) return version
    const found = await bucket.readText(LEASE_FILE)
    if (found === undefined) continue
    const holder = parseLease(found.text)
    const isExpired = bucket.now() - found.writtenMs > TTL_MS
    // Of a process of this machine one knows whether it lives; another machine may bear the same name.
    const isSameMachine = machine !== undefined && holder?.machine === machine
    if (holder !== undefined && !isExpired && (!isSameMachine || (await isAlive(holder))))
      throw leaseHeldError(bucket, holder)
    const newVersion = await bucket.putText(LEASE_FILE, text(), { ifVersion: found.version })
    if (newVersion !== undefined) return newVersion
  }
}

type LeaseHolder = Holder & { machine?: unknown; lease?: unknown }

function parseLease(text: string): LeaseHolder | undefined {
  const holder = parseHolder(text)
  return holder && { ...(JSON.parse(text) as LeaseHolder), ...holder }
}

async function holderOf(bucket: Bucket): Promise<LeaseHolder | undefined> {
  const found = await bucket.readText(LEASE_FILE)
  return found && parseLease(found.text)
}

function leaseHeldError({ name }: Bucket, holder: LeaseHolder | undefined): ExportError {
  const who =
    holder === undefined
      ? 'another run'
      : `process ${holder.pid} on ${holder.host}, which began at ${holder.startedAt},`
  return new ExportError('OUTPUT_LOCKED', `${name}: ${who} holds the output`)
}
