import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { Job } from '../core/model/model.ts'
import {
  diskError,
  makePrivateFolder,
  PRIVATE_MODE,
  readTextIfExists,
  writeAtomically,
} from '../core/platform/disk.ts'
import { privateFolder } from '../export/private-folder.ts'
import type { OpenedService } from '../sources/data-api/open-service.ts'
import type { WatchedAddresses } from './plan-webhooks.ts'
import { type ReconcileResult, reconcileWebhooks } from './reconcile-webhooks.ts'
import { type FoundWebhook, findWebhooks, type WebhookService } from './webhooks.ts'

/** Loads a job's watch state, recovers it from existing webhooks, or creates a new one. */
export async function openJobState(
  { client, signal }: OpenedService,
  { job, receiverUrl }: { job: Job; receiverUrl: string },
): Promise<WatchState> {
  const savedState = await readWatchState(statePathOf(job))
  if (savedState !== undefined) return savedState
  const existingToken = await findToken(client, { ...labelsOf(job), receiverUrl, signal })
  const state = { token: existingToken ?? generateToken(), webhooks: [] }
  await writeWatchState(statePathOf(job), state)
  return state
}

export type JobReconciliation = {
  job: Job
  receiverUrl: string
  /** Maximum number of addresses per webhook. */
  maxAddresses: number
  /** Updated in place and saved. */
  state: WatchState
}

/** Updates a job's webhooks so that they watch each of its wallets exactly once. */
export function reconcileJobWebhooks(
  { client, signal }: OpenedService,
  { job, receiverUrl, maxAddresses, state }: JobReconciliation,
): Promise<ReconcileResult> {
  return reconcileWebhooks(client, {
    ...labelsOf(job),
    url: `${receiverUrl}/${state.token}`,
    token: state.token,
    maxAddresses,
    signal,
    desired: job.wallets.map(({ address }) => address),
    saved: state.webhooks,
    save: async (webhooks) => {
      state.webhooks = webhooks
      await writeWatchState(statePathOf(job), state)
    },
  })
}

/** Returns a predicate for a job's webhooks: by the token in their URL, or by name and chain without a saved state. */
export async function webhookMatcherOf(
  job: Job,
): Promise<(webhook: Omit<FoundWebhook, 'addresses'>) => boolean> {
  const state = await readWatchState(statePathOf(job))
  const { name, chain } = labelsOf(job)
  if (state === undefined) return (webhook) => webhook.name === name && webhook.chain === chain
  return ({ url }) => url.endsWith(`/${state.token}`)
}

/** Returns a job's webhooks as last saved, for APIs that do not list webhooks. */
export async function savedWebhooks(job: Job): Promise<FoundWebhook[]> {
  const { webhooks = [] } = (await readWatchState(statePathOf(job))) ?? {}
  return webhooks.map((webhook) => ({ ...webhook, ...labelsOf(job), url: '', status: 'remembered' }))
}

function statePathOf(job: Job): string {
  return join(privateFolder(job), 'watch', 'state.json')
}

/** The name and chain that label a job's webhooks at the service. */
function labelsOf({ name, chain }: Job): { name: string; chain: string } {
  return { name: `walletlake ${name}`, chain }
}

export type TokenSearch = {
  receiverUrl: string
  name: string
  chain: string
  signal?: AbortSignal | undefined
}

/**
 * Recovers the token of an earlier watch whose state file is lost, from its webhooks: those with the same receiver,
 * name and chain. Otherwise every lost state would leave orphaned webhooks. Undefined if there are none.
 */
export async function findToken(service: WebhookService, search: TokenSearch): Promise<string | undefined> {
  const { receiverUrl, name, chain, signal } = search
  const webhooks = await findWebhooks(
    service,
    (webhook) =>
      webhook.chain === chain && webhook.name === name && tokenOfUrl(webhook.url, receiverUrl) !== undefined,
    signal,
  )
  const active = webhooks?.find(({ status }) => status !== 'inactive') ?? webhooks?.[0]
  return active === undefined ? undefined : tokenOfUrl(active.url, receiverUrl)
}

function tokenOfUrl(url: string, receiverUrl: string): string | undefined {
  const token = url.startsWith(`${receiverUrl}/`) ? url.slice(receiverUrl.length + 1) : ''
  return TOKEN_PATTERN.test(token) ? token : undefined
}

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
const TOKEN_PATTERN = /^[0-9a-f]{64}$/

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
