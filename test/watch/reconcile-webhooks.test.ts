import { describe, expect, onTestFinished, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type {
  DataServiceOptions,
  ServiceRequest,
  ServiceResponse,
} from '../../src/demo-server/data-service.ts'
import { listen } from '../../src/demo-server/listen.ts'
import { findToken, generateToken } from '../../src/watch/job-webhooks.ts'
import type { WatchedAddresses } from '../../src/watch/plan-webhooks.ts'
import { type Reconciliation, reconcileWebhooks } from '../../src/watch/reconcile-webhooks.ts'
import { clientOf, pagesOf } from '../http/server.ts'

const RECEIVER = 'https://me.example/hook'
const wallet = (number: number) => `0x${String(number).padStart(40, '0')}`
const wallets = (count: number, from = 0) => Array.from({ length: count }, (_, at) => wallet(from + at))

/** Replaces a response of the service; undefined leaves it unchanged. */
type Override = (request: ServiceRequest, answer: ServiceResponse) => ServiceResponse | 'lost' | undefined

async function setUp(given: { service?: DataServiceOptions; override?: Override } = {}) {
  const service = createDataService(given.service)
  const override: Override = (...exchange) => given.override?.(...exchange)
  const requests: string[] = []
  const listening = await listen({
    handle: async (request) => {
      requests.push(`${request.method} ${request.url.replace(/\?.*/, '')}`)
      const answer = await service.handle(request)
      const changed = override(request, answer)
      return changed === 'lost' ? { status: 502, headers: {}, body: '{}' } : (changed ?? answer)
    },
  })
  onTestFinished(async () => {
    await listening.close()
    service.close()
  })
  const client = clientOf(listening.url)
  const token = generateToken()
  const memory: { webhooks: readonly WatchedAddresses[] } = { webhooks: [] }
  const reconcile = (desired: readonly string[], more: Partial<Reconciliation> = {}) =>
    reconcileWebhooks(client, {
      url: `${RECEIVER}/${token}`,
      token,
      name: 'walletlake mine',
      chain: '43114',
      desired,
      maxAddresses: 5,
      saved: memory.webhooks,
      save: async (webhooks) => {
        memory.webhooks = webhooks
      },
      ...more,
    })
  const direct = clientOf((await reach(service)).url)
  const all = async () => (await pagesOf(direct.listWebhooks())).flatMap(({ webhooks }) => webhooks)
  const active = async () => (await all()).filter(({ status }) => status === 'active')
  const watched = async () => (await active()).flatMap(({ metadata }) => metadata?.addresses ?? []).sort()
  return { reconcile, client, token, memory, requests, all, active, watched }
}

/** Serves the same service without any interference. */
async function reach(service: ReturnType<typeof createDataService>) {
  const listening = await listen({ handle: service.handle })
  onTestFinished(() => listening.close())
  return listening
}

test('distributes wallets over the required number of webhooks, once', async () => {
  const { reconcile, active, watched, requests } = await setUp()
  expect(await reconcile(wallets(12))).toEqual({ webhooks: 3, created: 3, changed: 0, dropped: 0 })
  expect(await watched()).toEqual(wallets(12))
  const [first] = await active()
  expect(first).toMatchObject({ name: 'walletlake mine', chainId: '43114', eventType: 'address_activity' })
  requests.length = 0
  expect(await reconcile(wallets(12))).toEqual({ webhooks: 3, created: 0, changed: 0, dropped: 0 })
  expect(requests).toEqual(['GET /v1/webhooks'])
})

test('follows added and removed wallets', async () => {
  const { reconcile, active, watched } = await setUp()
  await reconcile(wallets(12))
  await reconcile(wallets(9, 6))
  expect(await watched()).toEqual(wallets(9, 6))
  await reconcile(wallets(2, 13))
  expect(await watched()).toEqual(wallets(2, 13))
  expect(await active()).toHaveLength(1)
  await reconcile([])
  expect(await active()).toEqual([])
})

test('splits webhooks if the limit of addresses is lowered', async () => {
  const { reconcile, active, watched } = await setUp()
  await reconcile(wallets(10))
  await reconcile(wallets(10), { maxAddresses: 3 })
  expect((await active()).map(({ metadata }) => metadata?.addresses?.length).sort()).toEqual([1, 3, 3, 3])
  expect(await watched()).toEqual(wallets(10))
})

test('reactivates an inactive webhook', async () => {
  const { reconcile, client, all, active, watched } = await setUp()
  await reconcile(wallets(3))
  const [only] = await active()
  await client.deleteWebhook({ id: only?.id ?? '' })
  await reconcile(wallets(4))
  expect(await all()).toHaveLength(1)
  expect(await watched()).toEqual(wallets(4))
})

test('does not change webhooks of others', async () => {
  const { reconcile, client, all } = await setUp()
  const others = [`${RECEIVER}/${generateToken()}`, RECEIVER, 'https://other.example/hook']
  for (const url of others) {
    const metadata = { addresses: wallets(1) }
    const name = 'walletlake mine'
    await client.createWebhook({ eventType: 'address_activity', url, chainId: '43114', name, metadata })
  }
  const before = await all()
  await reconcile(wallets(2))
  await reconcile([])
  expect((await all()).slice(0, 3)).toEqual(before)
})

test('deletes its webhooks with another receiver URL or chain', async () => {
  const { reconcile, active, token, watched } = await setUp()
  await reconcile(wallets(7))
  const url = `https://new.example/${token}`
  expect(await reconcile(wallets(7), { url })).toMatchObject({ created: 2 })
  expect((await active()).map((webhook) => webhook.url)).toEqual([url, url])
  await reconcile(wallets(7), { url, chain: '1' })
  expect((await active()).map(({ chainId }) => chainId)).toEqual(['1', '1'])
  expect(await watched()).toEqual(wallets(7))
})

test('compares addresses case-insensitively', async () => {
  const { reconcile, client, requests, active } = await setUp()
  const mixed = '0x58A57ed9d8d624cBD12e2C467D34787555bB1b25'
  await reconcile([wallet(1)])
  const [only] = await active()
  await client.addWebhookAddresses({ id: only?.id ?? '', addresses: [mixed] })
  requests.length = 0
  await reconcile([wallet(1), mixed.toLowerCase()])
  expect(requests).toEqual(['GET /v1/webhooks'])
})

test('suggests a fix if the plan allows fewer addresses than configured', async () => {
  const { reconcile } = await setUp({ service: { maxAddresses: 2 } })
  await expect(reconcile(wallets(3))).rejects.toMatchObject({
    code: 'REQUEST_REFUSED',
    message: expect.stringContaining('at most 2 addresses'),
    fix: expect.stringContaining('--addresses-per-webhook'),
  })
})

describe('if responses are lost', () => {
  test.for([
    { what: 'creating', method: 'POST', at: /^\/v1\/webhooks$/ },
    { what: 'adding', method: 'PATCH', at: /addresses$/ },
    { what: 'removing', method: 'DELETE', at: /addresses$/ },
    { what: 'dropping', method: 'DELETE', at: /^\/v1\/webhooks\/[^/]+$/ },
  ])('still watches each wallet once after $what', async ({ method, at }) => {
    let lost = 0
    const override: Override = (request) => {
      if (request.method !== method || !at.test(request.url)) return undefined
      lost += 1
      return lost === 1 ? 'lost' : undefined
    }
    const { reconcile, watched, active } = await setUp({ override })
    for (const wanted of [wallets(12), wallets(13, 2), wallets(3, 5)]) {
      await reconcile(wanted)
      expect(await watched()).toEqual(wanted)
    }
    expect(lost).toBeGreaterThan(0)
    expect(await active()).toHaveLength(1)
  })

  test('gives up after repeated losses', async () => {
    const override: Override = ({ method }) => {
      if (method === 'POST') return 'lost'
      return { status: 200, headers: {}, body: '{"webhooks":[]}' }
    }
    const { reconcile, requests } = await setUp({ override })
    await expect(reconcile(wallets(1))).rejects.toMatchObject({ mayHaveActed: true })
    expect(requests.filter((one) => one.startsWith('POST'))).toHaveLength(4)
  })
})

describe('if the service supports only the operations of the interface', () => {
  const notFound: ServiceResponse = { status: 404, headers: {}, body: '{"message":"no such operation"}' }
  const override: Override = ({ method, url }) =>
    method === 'GET' || (method === 'DELETE' && !url.endsWith('/addresses')) ? notFound : undefined

  test('uses the saved state', async () => {
    const { reconcile, watched, all } = await setUp({ override })
    await reconcile(wallets(7))
    await reconcile(wallets(8, 3))
    expect(await watched()).toEqual(wallets(8, 3))
    expect(await all()).toHaveLength(2)
  })

  test('recreates a webhook that no longer exists, although the service does not list webhooks', async () => {
    const gone = new Set<string>()
    const losing: Override = (request, answer) => {
      const id = /webhooks\/([^/]+)/.exec(request.url)?.[1] ?? ''
      return gone.has(id) ? notFound : override(request, answer)
    }
    const { reconcile, memory } = await setUp({ override: losing })
    await reconcile(wallets(7))
    const [first, second] = memory.webhooks
    gone.add(first?.id ?? '')
    expect(await reconcile(wallets(7))).toMatchObject({ created: 1, webhooks: 2 })
    expect(memory.webhooks.map(({ id }) => id)).toContain(second?.id)
    expect(memory.webhooks.flatMap(({ addresses }) => addresses).sort()).toEqual(wallets(7))
  })

  test('saves what was created before a refusal', async () => {
    let created = 0
    const refusing: Override = (request, answer) => {
      if (request.method === 'POST') created += 1
      const refused = { status: 403, headers: {}, body: '{}' }
      return request.method === 'POST' && created > 1 ? refused : override(request, answer)
    }
    const { reconcile, memory } = await setUp({ override: refusing })
    await expect(reconcile(wallets(12))).rejects.toMatchObject({ code: 'KEY_REFUSED' })
    expect(memory.webhooks).toHaveLength(1)
  })

  test('removes the addresses of an unneeded webhook', async () => {
    const { reconcile, all } = await setUp({ override })
    await reconcile(wallets(7))
    await reconcile(wallets(5))
    expect((await all()).map(({ metadata }) => metadata?.addresses?.length).sort()).toEqual([0, 5])
  })
})

test('requests the addresses that a list of webhooks omits', async () => {
  const override: Override = ({ url }, answer) => {
    if (!/^\/v1\/webhooks\?/.test(url)) return undefined
    return { ...answer, body: answer.body.replaceAll(/"addresses":\[[^\]]*\]/g, '"addresses":null') }
  }
  const { reconcile, watched } = await setUp({ override })
  await reconcile(wallets(7))
  expect(await reconcile(wallets(7))).toEqual({ webhooks: 2, created: 0, changed: 0, dropped: 0 })
  expect(await watched()).toEqual(wallets(7))
})

test('finds a lost token by name, chain and receiver', async () => {
  const { reconcile, client, token } = await setUp()
  await reconcile(wallets(1))
  const search = { receiverUrl: RECEIVER, name: 'walletlake mine', chain: '43114' }
  expect(await findToken(client, search)).toBe(token)
  for (const other of [{ name: 'walletlake other' }, { chain: '1' }, { receiverUrl: 'https://me.example' }])
    expect(await findToken(client, { ...search, ...other })).toBeUndefined()
})
