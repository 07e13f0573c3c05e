import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { ExportError } from '../core/model/errors.ts'
import {
  describeProcess,
  type Holder,
  isAlive,
  machineId,
  parseHolder,
} from '../core/platform/lock/holder.ts'
import { RETRY_POLICIES } from '../core/platform/retry.ts'
import type { Bucket } from './bucket.ts'

/** A lease of a location in an object store. It is an object that the holder renews. */
export type Lease = {
  /**
   * Throws OUTPUT_LOCKED if the lease was lost. Checks the store if the lease was not renewed in time (a
   * suspended process).
   */
  require(): Promise<void>
  release(): Promise<void>
}

export const LEASE_FILE = '.walletlake/lock.json'
/** Milliseconds without renewal after which a lease expires. */
const TTL_MS = 60_000
const RENEW_MS = TTL_MS / 3

/** Acquires the lease for this process. Throws OUTPUT_LOCKED, with the holder, if another run holds it. */
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
  // A store error is ignored here: the next write fails as well.
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

/**
 * Shares one running call among concurrent callers: two concurrent renewals would invalidate each other's
 * version.
 */
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

/** Writes the lease object and resolves with its version. */
async function acquireVersion(bucket: Bucket, request: LeaseRequest): Promise<string> {
  for (let attempt = 0; attempt <= RETRY_POLICIES.lease.retries; attempt += 1) {
    if (attempt > 0) await wait(RETRY_POLICIES.lease.firstDelayMs)
    const version = await writeLease(bucket, request)
    if (version !== undefined) return version
  }
  throw new ExportError('OUTPUT_LOCKED', `${bucket.name}: other runs keep acquiring the output`, {
    fix: `Run the same command again. If no other run uses this output, remove ${bucket.name}/${LEASE_FILE}.`,
  })
}

/**
 * Writes the lease object if there is none or if its holder has ended. Resolves with its version, or with
 * undefined if another run changed it at the same time. Throws OUTPUT_LOCKED if another run holds the lease.
 */
async function writeLease(bucket: Bucket, { text, machine }: LeaseRequest): Promise<string | undefined> {
  const version = await bucket.putText(LEASE_FILE, text(), { ifAbsent: true })
  if (version !== undefined) return version
  const stored = await bucket.readText(LEASE_FILE)
  if (stored === undefined) return undefined
  const holder = parseLease(stored.text)
  const isExpired = bucket.now() - stored.writtenMs > TTL_MS
  // Whether a process of this machine is alive can be checked. The machine id matters: other machines may
  // have the same name.
  const isSameMachine = machine !== undefined && holder?.machine === machine
  if (holder !== undefined && !isExpired && (!isSameMachine || (await isAlive(holder))))
    throw leaseHeldError(bucket, holder)
  return bucket.putText(LEASE_FILE, text(), { ifVersion: stored.version })
}

type LeaseHolder = Holder & { machine?: unknown; lease?: unknown }

function parseLease(text: string): LeaseHolder | undefined {
  const holder = parseHolder(text)
  return holder && { ...(JSON.parse(text) as LeaseHolder), ...holder }
}

async function holderOf(bucket: Bucket): Promise<LeaseHolder | undefined> {
  const stored = await bucket.readText(LEASE_FILE)
  return stored && parseLease(stored.text)
}

function leaseHeldError({ name }: Bucket, holder: LeaseHolder | undefined): ExportError {
  const who =
    holder === undefined
      ? 'another run'
      : `process ${holder.pid} on ${holder.host}, which started at ${holder.startedAt},`
  return new ExportError('OUTPUT_LOCKED', `${name}: ${who} holds the output`)
}
