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

/** The persistent state of a watch. */
export type WatchState = {
  /** The secret last segment of the receiver's path. */
  token: string
  /** Webhooks after the last reconciliation, for APIs that do not list webhooks. */
  webhooks: readonly WatchedAddresses[]
}

/** Generates a secret path segment of 256 random bits. */
export function generateToken(): string {
  return randomBytes(32).toString('hex')
}

/** The form of a token from `generateToken`. */
export const TOKEN_PATTERN = /^[0-9a-f]{64}$/

/** Reads the state; undefined if the file is missing or damaged. Throws OUTPUT_FAILED if it cannot be read. */
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

/** Replaces the state file atomically, readable by its owner only. Throws OUTPUT_FAILED. */
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
