import { expect, test } from 'vitest'
import type { Webhook } from '../../src/sources/data-api/resources.ts'
import { findWebhooks, type WebhookService } from '../../src/watch/webhooks.ts'
import { TOO_DEEP_JSON } from '../helpers/deep-json.ts'

test.for(TOO_DEEP_JSON)('treats $what in place of text as empty text', async ({ text }) => {
  const deep: unknown = JSON.parse(text)
  const webhook = { id: 'w1', chainId: deep, metadata: { addresses: [deep, '0xAB'] } } as Webhook
  const service = {
    listWebhooks: async function* () {
      yield { webhooks: [webhook] }
    },
  } as unknown as WebhookService
  const found = await findWebhooks(service, () => true)
  expect(found).toMatchObject([{ id: 'w1', chain: '', addresses: ['', '0xab'] }])
})
