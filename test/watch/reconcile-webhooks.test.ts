import { describe, expect, onTestFinished, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type {
  DataServiceOptions,
  ServiceRequest,
  ServiceResponse,
} from '../../src/demo-server/data-service.ts'
import { listen } from '../../src/demo-server/listen.ts'
import { findToken } from '../../src/watch/find-token.ts'
import type { WatchedAddresses } from '../../src/watch/plan-webhooks.ts'
import { type Reconciliation, reconcileWebhooks } from '../../src/watch/reconcile-webhooks.ts'
import { generateToken } from '../../src/watch/watch-state.ts'
import { clientOf, pagesOf } from '../http/server.ts'

const RECEIVER = 'https://me.example/hook'
const wallet = (number: number) => `0x${String(number).padStart(40, '0')}`
const wallets = (count: number, from = 0) => Array.from({ length: count }, (_, at) => wallet(from + at))

/** Changes what the service answers; undefined: nothing. */
type Meddling = (request: ServiceRequest, answer: ServiceResponse) => ServiceResponse | 'lost' | undefined

async function kept(given: { service?: DataServiceOptions; meddle?: Meddling } = {}) {
  const service = createDataService(given.service)
  const meddle: Meddling = (...exchange) => given.meddle?.(...exchange)
  const requests: string[] = []
  const listening = await listen({
    handle: async (request) => {
      requests.push(`${request.method} ${request.url.replace(/\?.*/, '')}`)
      const answer = await service.handle(request)
      const changed = meddle(request, answer)
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
  const keep = (desired: readonly string[], more: Partial<Reconciliation> = {}) =>
    reconcileWebhooks(client, {
      ...{
        url: `${RECEIVER}/${token}`,
        token,
        name: 'walletlake mine',
        chain: '43114',
        desired,
        maxAddresses: 5,
      },
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
  return { keep, client, token, memory, asked: requests, all, active, watched }
}

/** The same service without anybody in between. */
async function reach(service: ReturnType<typeof createDataService>) {
  const listening = await listen({ handle: service.handle })
  onTestFinished(() => listening.close())
  return listening
}

test('spreads wallets over as many webhooks as they need, and does it once', async () => {
  const { keep, active, watched, asked: requests } = await kept()
  expect(await keep(wallets(12))).toEqual({ webhooks: 3, created: 3, changed: 0, dropped: 0 })
  expect(await watched()).toEqual(wallets(12))
  const [first] = await active()
  expect(first).toMatchObject({ name: 'walletlake mine', chainId: '43114', eventType: 'address_activity' })
  requests.length = 0
  expect(await keep(wallets(12))).toEqual({ webhooks: 3, created: 0, changed: 0, dropped: 0 })
  expect(requests).toEqual(['GET /v1/webhooks'])
})

test('follows wallets as they come and go', async () => {
  const { keep, active, watched } = await kept()
  await keep(wallets(12))
  await keep(wallets(9, 6))
  expect(await watched()).toEqual(wallets(9, 6))
  await keep(wallets(2, 13))
  expect(await watched()).toEqual(wallets(2, 13))
  expect(await active()).toHaveLength(1)
  await keep([])
  expect(await active()).toEqual([])
})

test('makes room where a plan allows fewer addresses than before', async () => {
  const { keep, active, watched } = await kept()
  await keep(wallets(10))
  await keep(wallets(10), { maxAddresses: 3 })
  expect((await active()).map(({ metadata }) => metadata?.addresses?.length).sort()).toEqual([1, 3, 3, 3])
  expect(await watched()).toEqual(wallets(10))
})

test('uses a webhook again that became inactive', async () => {
  const { keep, client, all, active, watched } = await kept()
  await keep(wallets(3))
  const [only] = await active()
  await client.deleteWebhook({ id: only?.id ?? '' })
  await keep(wallets(4))
  expect(await all()).toHaveLength(1)
  expect(await watched()).toEqual(wallets(4))
})

test("leaves others' webhooks alone", async () => {
  const { keep, client, all } = await kept()
  const others = [`${RECEIVER}/${generateToken()}`, RECEIVER, 'https://other.example/hook']
  for (const url of others) {
    const metadata = { addresses: wallets(1) }
    const name = 'walletlake mine'
    await client.createWebhook({ eventType: 'address_activity', url, chainId: '43114', name, metadata })
  }
  const before = await all()
  await keep(wallets(2))
  await keep([])
  expect((await all()).slice(0, 3)).toEqual(before)
})

test('drops its webhooks of another receiver address or chain', async () => {
  const { keep, active, token, watched } = await kept()
  await keep(wallets(7))
  const url = `https://new.example/${token}`
  expect(await keep(wallets(7), { url })).toMatchObject({ created: 2 })
  expect((await active()).map((webhook) => webhook.url)).toEqual([url, url])
  await keep(wallets(7), { url, chain: '1' })
  expect((await active()).map(({ chainId }) => chainId)).toEqual(['1', '1'])
  expect(await watched()).toEqual(wallets(7))
})

test('compares addresses whatever their letter case', async () => {
  const { keep, client, asked: requests, active } = await kept()
  const mixed = '0x58A57ed9d8d624cBD12e2C467D34787555bB1b25'
  await keep([wallet(1)])
  const [only] = await active()
  await client.addWebhookAddresses({ id: only?.id ?? '', addresses: [mixed] })
  requests.length = 0
  await keep([wallet(1), mixed.toLowerCase()])
  expect(requests).toEqual(['GET /v1/webhooks'])
})

test('says what to do where the plan allows fewer addresses than told', async () => {
  const { keep } = await kept({ service: { maxAddresses: 2 } })
  await expect(keep(wallets(3))).rejects.toMatchObject({
    code: 'REQUEST_REFUSED',
    message: expect.stringContaining('2 addresses at most'),
    fix: expect.stringContaining('--addresses-per-webhook'),
  })
})

describe('where answers are lost', () => {
  test.for([
    { what: 'creating', method: 'POST', at: /^\/v1\/webhooks$/ },
    { what: 'adding', method: 'PATCH', at: /addresses$/ },
    { what: 'removing', method: 'DELETE', at: /addresses$/ },
    { what: 'dropping', method: 'DELETE', at: /^\/v1\/webhooks\/[^/]+$/ },
  ])('still watches each wallet once after $what', async ({ method, at }) => {
    let lost = 0
    const meddle: Meddling = (request) => {
      if (request.method !== method || !at.test(request.url)) return undefined
      lost += 1
      return lost === 1 ? 'lost' : undefined
    }
    const { keep, watched, active } = await kept({ meddle })
    for (const wanted of [wallets(12), wallets(13, 2), wallets(3, 5)]) {
      await keep(wanted)
      expect(await watched()).toEqual(wanted)
    }
    expect(lost).toBeGreaterThan(0)
    expect(await active()).toHaveLength(1)
  })

  test('gives up where they are lost again and again', async () => {
    const meddle: Meddling = ({ method }) => {
      if (method === 'POST') return 'lost'
      return { status: 200, headers: {}, body: '{"webhooks":[]}' }
    }
    const { keep, asked: requests } = await kept({ meddle })
    await expect(keep(wallets(1))).rejects.toMatchObject({ mayHaveActed: true })
    expect(requests.filter((one) => one.startsWith('POST'))).toHaveLength(4)
  })
})

describe('where the service shows only what the interface has', () => {
  const notFound: ServiceResponse = { status: 404, headers: {}, body: '{"message":"no such operation"}' }
  const meddle: Meddling = ({ method, url }) =>
    method === 'GET' || (method === 'DELETE' && !url.endsWith('/addresses')) ? notFound : undefined

  test('goes by what it remembers', async () => {
    const { keep, watched, all } = await kept({ meddle })
    await keep(wallets(7))
    await keep(wallets(8, 3))
    expect(await watched()).toEqual(wallets(8, 3))
    expect(await all()).toHaveLength(2)
  })

  test('creates again what is gone, although nothing says so', async () => {
    const gone = new Set<string>()
    const losing: Meddling = (request, answer) => {
      const id = /webhooks\/([^/]+)/.exec(request.url)?.[1] ?? ''
      return gone.has(id) ? notFound : meddle(request, answer)
    }
    const { keep, memory } = await kept({ meddle: losing })
    await keep(wallets(7))
    const [first, second] = memory.webhooks
    gone.add(first?.id ?? '')
    expect(await keep(wallets(7))).toMatchObject({ created: 1, webhooks: 2 })
    expect(memory.webhooks.map(({ id }) => id)).toContain(second?.id)
    expect(memory.webhooks.flatMap(({ addresses }) => addresses).sort()).toEqual(wallets(7))
  })

  test('remembers what was created before a refusal', async () => {
    let created = 0
    const refusing: Meddling = (request, answer) => {
      if (request.method === 'POST') created += 1
      const refused = { status: 403, headers: {}, body: '{}' }
      return request.method === 'POST' && created > 1 ? refused : meddle(request, answer)
    }
    const { keep, memory } = await kept({ meddle: refusing })
    await expect(keep(wallets(12))).rejects.toMatchObject({ code: 'KEY_REFUSED' })
    expect(memory.webhooks).toHaveLength(1)
  })

  test('leaves a dropped webhook without addresses', async () => {
    const { keep, all } = await kept({ meddle })
    await keep(wallets(7))
    await keep(wallets(5))
    expect((await all()).map(({ metadata }) => metadata?.addresses?.length).sort()).toEqual([0, 5])
  })
})

test('asks for the addresses that a list of webhooks leaves out', async () => {
  const meddle: Meddling = ({ url }, answer) => {
    if (!/^\/v1\/webhooks\?/.test(url)) return undefined
    return { ...answer, body: answer.body.replaceAll(/"addresses":\[[^\]]*\]/g, '"addresses":null') }
  }
  const { keep, watched } = await kept({ meddle })
  await keep(wallets(7))
  expect(await keep(wallets(7))).toEqual({ webhooks: 2, created: 0, changed: 0, dropped: 0 })
  expect(await watched()).toEqual(wallets(7))
})

test('finds a lost token by name, chain and receiver', async () => {
  const { keep, client, token } = await kept()
  await keep(wallets(1))
  const search = { receiverUrl: RECEIVER, name: 'walletlake mine', chain: '43114' }
  expect(await findToken(client, search)).toBe(token)
  for (const other of [{ name: 'walletlake other' }, { chain: '1' }, { receiverUrl: 'https://me.example' }])
    expect(await findToken(client, { ...search, ...other })).toBeUndefined()
})
