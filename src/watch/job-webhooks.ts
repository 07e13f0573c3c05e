import { join } from 'node:path'
import type { Job } from '../core/model/model.ts'
import { privateFolder } from '../export/private-folder.ts'
import type { OpenedService } from '../sources/data-api/open-service.ts'
import { findToken } from './find-token.ts'
import type { FoundWebhook } from './find-webhooks.ts'
import { type ReconcileResult, reconcileWebhooks } from './reconcile-webhooks.ts'
import { generateToken, readWatchState, type WatchState, writeWatchState } from './watch-state.ts'

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
