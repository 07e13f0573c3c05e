import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type DesiredWebhooks, planWebhooks, type WatchedAddresses } from '../../src/watch/plan-webhooks.ts'

const address = fc.integer({ min: 0, max: 30 }).map((number) => `0x${number}`)
const desiredWebhooks: fc.Arbitrary<DesiredWebhooks> = fc.record({
  desired: fc.uniqueArray(address),
  maxAddresses: fc.integer({ min: 1, max: 6 }),
  webhooks: fc
    .array(fc.uniqueArray(address, { maxLength: 8 }), { maxLength: 6 })
    .map((lists) => lists.map((addresses, at) => ({ id: `w${at}`, addresses }))),
})

/** Returns the webhooks after a plan is applied. */
function carryOut({ desired, webhooks, maxAddresses }: DesiredWebhooks): WatchedAddresses[] {
  const { change, create, drop } = planWebhooks({ desired, webhooks, maxAddresses })
  const stay = webhooks.filter(({ id }) => !drop.includes(id))
  const changed = stay.map(({ id, addresses }) => {
    const { remove = [], add = [] } = change.find((one) => one.id === id) ?? {}
    return { id, addresses: [...addresses.filter((one) => !remove.includes(one)), ...add] }
  })
  return [...changed, ...create.map((addresses, at) => ({ id: `new${at}`, addresses }))]
}

test('watches each desired address once, within the maximum per webhook', () => {
  fc.assert(
    fc.property(desiredWebhooks, (given) => {
      const after = carryOut(given)
      const watched = after.flatMap(({ addresses }) => addresses)
      expect([...watched].sort()).toEqual([...given.desired].sort())
      for (const { addresses } of after) {
        expect(addresses.length).toBeGreaterThan(0)
        expect(addresses.length).toBeLessThanOrEqual(given.maxAddresses)
      }
    }),
  )
})

test('changes nothing after a plan is applied', () => {
  fc.assert(
    fc.property(desiredWebhooks, (given) => {
      const again = planWebhooks({ ...given, webhooks: carryOut(given) })
      expect(again).toEqual({ change: [], create: [], drop: [] })
    }),
  )
})

test('keeps correct assignments and moves only what it must', () => {
  const webhooks = [
    { id: 'a', addresses: ['1', '2', '9'] },
    { id: 'b', addresses: ['3', '2'] },
    { id: 'c', addresses: ['8'] },
  ]
  expect(planWebhooks({ desired: ['1', '2', '3', '4', '5', '6'], webhooks, maxAddresses: 2 })).toEqual({
    change: [
      { id: 'a', remove: ['9'], add: [] },
      { id: 'b', remove: ['2'], add: ['4'] },
      { id: 'c', remove: ['8'], add: ['5', '6'] },
    ],
    create: [],
    drop: [],
  })
})
