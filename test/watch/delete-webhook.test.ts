import { expect, test } from 'vitest'
import { ExportError } from '../../src/core/model/errors.ts'
import { deleteOrEmptyWebhook } from '../../src/watch/webhooks.ts'

const refusal = (status: number) => async (): Promise<never> => {
  throw new ExportError('REQUEST_REFUSED', 'not offered', { status })
}
const accept = async () => undefined

test.for([
  { what: 'a deletion', remove: accept, empty: refusal(500), outcome: 'removed' },
  { what: 'addresses that are taken away instead', remove: refusal(405), empty: accept, outcome: 'emptied' },
  { what: 'a webhook that does not exist', remove: refusal(404), empty: refusal(404), outcome: 'removed' },
  { what: 'a service with neither', remove: refusal(405), empty: refusal(501), outcome: 'not removed' },
])('$what: $outcome', async ({ remove, empty, outcome }) => {
  const service = { deleteWebhook: remove, removeWebhookAddresses: empty }
  expect(await deleteOrEmptyWebhook(service, { id: '1', addresses: ['0xa'] })).toBe(outcome)
})
