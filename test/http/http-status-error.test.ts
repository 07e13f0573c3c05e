import { expect, test } from 'vitest'
import type { ExportError } from '../../src/index.ts'
import { clientOf, failureOf, startServer } from './server.ts'

async function refusedWith(status: number, message: string, headers: Record<string, string> = {}) {
  const { url, received } = await startServer(() => ({ status, headers, body: { message } }))
  const error = (await failureOf(clientOf(url).getChain({ chainId: '1' }))) as ExportError
  expect(received).toHaveLength(1)
  return error
}

test('the fix for a 402 concerns the plan, not the key or the chain', async () => {
  const error = await refusedWith(402, 'Payment Required')
  expect(error.code).toBe('REQUEST_REFUSED')
  expect(error.fix).toMatch(/^Check the plan, credits and invoices of the key's account/)
})

test.for([
  { apiKey: undefined, fix: 'No API key was sent: set WALLETLAKE_API_KEY, or' },
  { apiKey: 'a-key', fix: 'The key was refused: set WALLETLAKE_API_KEY (or' },
])('the fix for a 401 with the key $apiKey begins with "$fix"', async ({ apiKey, fix }) => {
  const { url } = await startServer(() => ({ status: 401, body: { message: 'Unauthorized' } }))
  const error = (await failureOf(clientOf(url, { apiKey }).getChain({ chainId: '1' }))) as ExportError
  expect([error.code, error.fix.slice(0, fix.length)]).toEqual(['KEY_REFUSED', fix])
})

test('a 403 with a web page does not concern the key', async () => {
  const { url } = await startServer(() => ({
    status: 403,
    headers: { 'content-type': 'text/html' },
    body: '<html>Access denied</html>',
  }))
  const error = (await failureOf(clientOf(url).getChain({ chainId: '1' }))) as ExportError
  expect([error.code, error.message]).toEqual([
    'REQUEST_REFUSED',
    expect.stringContaining('403 with a web page'),
  ])
  expect(error.fix).toMatch(/^A firewall or proxy in front of the service/)
})

test('the fix for a 451 refers to the provider', async () => {
  const error = await refusedWith(451, 'Unavailable For Legal Reasons')
  expect(error.code).toBe('REQUEST_REFUSED')
  expect(error.fix).toMatch(/^The service refuses this request for legal reasons/)
})

test.for([
  { status: 402, message: 'Payment Required', fix: 'Check the plan, credits and invoices' },
  {
    status: 451,
    message: 'Unavailable For Legal Reasons',
    fix: 'The service refuses this request for legal',
  },
  { status: 403, message: 'Daily quota exceeded', fix: 'The quota of this key is used up.' },
  { status: 404, message: 'Not found', fix: 'Check ' },
])('the fix for a $status after a successful response begins with "$fix"', async ({ fix, ...refusal }) => {
  const chain = { chainId: '1' }
  const { url } = await startServer((_, count) =>
    count === 1 ? { body: chain } : { status: refusal.status, body: { message: refusal.message } },
  )
  const client = clientOf(url)
  await client.getChain(chain)
  const error = (await failureOf(client.getChain(chain))) as ExportError
  expect(error.fix.slice(0, fix.length)).toBe(fix)
})

test.for([
  'Daily quota exceeded',
  'You have exceeded your monthly request limit',
  'API rate limit exceeded for key',
  'rate-limited: too many requests',
  'No compute units left',
  'Out of credits',
])('a 403 with the message "%s" means that the quota is used up', async (message) => {
  const error = await refusedWith(403, message)
  expect(error.code).toBe('RATE_LIMITED')
  expect(error.fix).toMatch(
    /^The quota of this key is used up\. Run the same command again once the quota is renewed/,
  )
  expect(error.fix).not.toContain('WALLETLAKE_API_KEY')
})

test('the fix for a 403 with Retry-After states when the quota is renewed', async () => {
  const error = await refusedWith(403, 'Forbidden', { 'retry-after': '3600' })
  expect(error.code).toBe('RATE_LIMITED')
  expect(error.fix).toMatch(/again after \d{4}-\d\d-\d\d \d\d:\d\d UTC/)
})

test.for(['Forbidden', 'Invalid API key', 'This key may not be used from your address'])(
  'a 403 with the message "%s" concerns the key',
  async (message) => {
    const error = await refusedWith(403, message)
    expect(error.code).toBe('KEY_REFUSED')
    expect(error.fix).toContain('WALLETLAKE_API_KEY')
  },
)
