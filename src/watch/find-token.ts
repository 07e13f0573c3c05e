import { findWebhooks } from './find-webhooks.ts'
import { TOKEN_PATTERN } from './watch-state.ts'
import type { WebhookService } from './webhook-service.ts'

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
  const found = await findWebhooks(
    service,
    (webhook) =>
      webhook.chain === chain && webhook.name === name && tokenOfUrl(webhook.url, receiverUrl) !== undefined,
    signal,
  )
  const active = found?.find(({ status }) => status !== 'inactive') ?? found?.[0]
  return active === undefined ? undefined : tokenOfUrl(active.url, receiverUrl)
}

function tokenOfUrl(url: string, receiverUrl: string): string | undefined {
  const token = url.startsWith(`${receiverUrl}/`) ? url.slice(receiverUrl.length + 1) : ''
  return TOKEN_PATTERN.test(token) ? token : undefined
}
