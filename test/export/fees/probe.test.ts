import { describe, expect, test } from 'vitest'
import type { FeeCheckpoint } from '../../../src/checkpoint/fees.ts'
import { ExportError } from '../../../src/core/model/errors.ts'
import { type FeeDetails, feeKey, type ListedPrice } from '../../../src/core/model/fees.ts'
import { MAX_PROBES, openProbe, type RequestFee } from '../../../src/export/fees/probe.ts'

const transaction = (at: number, price = '100') => ({
  hash: `0x${at}`,
  blockHash: '0xb',
  block: at,
  index: 0,
  price,
})

/** Keeps what a probe stores in memory. */
function memoryCheckpoint(): FeeCheckpoint {
  const probes = new Map<string, FeeDetails>()
  const fees: { listedPrice: ListedPrice | undefined } = { listedPrice: undefined }
  return {
    fees: {
      get listedPrice() {
        return fees.listedPrice
      },
      details: new Map(),
      probes,
    },
    addFee: async ({ hash, blockHash, price, cap }) =>
      void probes.set(feeKey(blockHash, hash), { price, cap }),
    setListedPrice: async (price) => {
      fees.listedPrice = price
    },
  }
}

/** Offers ten transactions, each listed with the price 100, and returns what the probe concludes. */
async function probeTen(requestFee: RequestFee, checkpoint = memoryCheckpoint()) {
  const errors: string[] = []
  let requests = 0
  const counted: RequestFee = (one) => {
    requests += 1
    return requestFee(one)
  }
  const probe = openProbe(checkpoint, counted, ({ code }) => errors.push(code))
  for (let at = 0; at < 10; at += 1) probe.offer(transaction(at))
  const failure = await probe.done().then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return { result: probe.result(), stored: checkpoint.fees.listedPrice, requests, errors, failure }
}

describe('a probe', () => {
  test('concludes from one price below its cap that the listing is effective', async () => {
    const found = await probeTen(async () => ({ price: '100', cap: '200' }))
    expect(found).toMatchObject({ result: 'effective', stored: 'effective', requests: 1 })
  })

  test('concludes that caps are listed if the listed price is the cap, above the price paid', async () => {
    const found = await probeTen(async () => ({ price: '60', cap: '100' }))
    expect(found).toMatchObject({ result: 'cap', stored: 'cap', requests: 1 })
  })

  test('learns nothing from prices that equal their caps, and stops after five', async () => {
    const found = await probeTen(async () => ({ price: '100', cap: '100' }))
    expect(found).toMatchObject({ result: undefined, stored: undefined, requests: MAX_PROBES })
  })

  test('stores that there are no details after five transactions without', async () => {
    const found = await probeTen(async () => undefined)
    expect(found).toMatchObject({ result: 'no details', stored: 'no details', requests: MAX_PROBES })
  })

  test.each(['SERVICE_UNAVAILABLE', 'PAGE_MALFORMED'] as const)(
    'gives up for this run if the service has never returned details and fails with %s',
    async (code) => {
      const found = await probeTen(async () => {
        throw new ExportError(code, 'down')
      })
      expect(found).toMatchObject({ result: 'no details', stored: undefined, requests: 1, errors: [code] })
      expect(found.failure).toBeUndefined()
    },
  )

  test('fails if a service that has returned details fails', async () => {
    const checkpoint = memoryCheckpoint()
    await probeTen(async () => ({ price: '100', cap: '100' }), checkpoint)
    const found = await probeTen(async () => {
      throw new ExportError('SERVICE_UNAVAILABLE', 'down')
    }, withoutKeys(checkpoint))
    expect(found.failure).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(found.errors).toEqual([])
  })

  test('fails if the run must end', async () => {
    const found = await probeTen(async () => {
      throw new ExportError('BUDGET_REACHED', 'limit')
    })
    expect(found.failure).toMatchObject({ code: 'BUDGET_REACHED' })
  })
})

/** The same checkpoint with the details of other transactions, so that those offered are requested. */
function withoutKeys(checkpoint: FeeCheckpoint): FeeCheckpoint {
  const probes = new Map([['0xother', { price: '1', cap: '1' }]])
  return { ...checkpoint, fees: { listedPrice: undefined, details: new Map(), probes } }
}
