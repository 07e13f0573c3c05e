import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import {
  diskError,
  makePrivateFolder,
  PRIVATE_MODE,
  readTextIfExists,
  writeAtomically,
} from '../core/platform/disk.ts'
import type { WatchedAddresses } from './plan-webhooks.ts'

/** What a watch remembers from one start to the next. */
export type WatchState = {
  /** The unguessable last segment of the receiver's path. */
  token: string
  /** As they were when they were last seen to; for services that do not list webhooks. */
  webhooks: readonly WatchedAddresses[]
}

/** An unguessable path segment of 256 bits. */
export function generateToken(): string {
  return randomBytes(32).toString('hex')
}

/** What newToken makes. */
export const TOKEN_PATTERN = /^[0-9a-f]{64}$/

/** What was remembered; undefined where that is nothing, or damaged. Throws OUTPUT_FAILED where it cannot be read. */
export async function readWatchState(path: string): Promise<WatchState | undefined> {
  const text = await readTextIfExists(path)
  if (text === undefined) return undefined
  try {
    const { token, webhooks } = JSON.parse(text) as Record<string, unknown>
    if (typeof token !== 'string' || !TOKEN_PATTERN.test(token)) return undefined
    return { token, webhooks: Array.isArray(webhooks) ? webhooks.filter(isWatchedAddresses) : [] }
  } catch {
    return undefined
  }
}

/** Replaces what is remembered, atomically; the file is its owner's alone. Throws OUTPUT_FAILED. */
export async function writeWatchState(path: string, state: WatchState): Promise<void> {
  try {
    await makePrivateFolder(dirname(path))
  } catch (cause) {
    throw diskError(`cannot write ${path}`, cause)
  }
  await writeAtomically(path, `${JSON.stringify(state)}\n`, PRIVATE_MODE)
}

function isWatchedAddresses(value: unknown): value is WatchedAddresses {
  const { id, addresses } = (value ?? {}) as Record<string, unknown>
  const hasAddresses = Array.isArray(addresses) && addresses.every((one) => typeof one === 'string')
  return typeof id === 'string' && hasAddresses
}
