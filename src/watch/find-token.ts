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
 * The token of an earlier watch that is not remembered any more, by the webhooks that it left behind: same receiver,
 * name and chain; undefined where there are none. Without it every lost memory would leave webhooks behind.
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
