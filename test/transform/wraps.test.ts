import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { demoWallets, nodeData } from '../helpers/node-data.ts'
import {
  ALICE,
  BOB,
  CAROL,
  erc20,
  flatten,
  type Item,
  internal,
  item,
  type Json,
  party,
  TOKEN,
  ZERO,
} from './items.ts'

/** Wrapped AVAX on the C-Chain, the chain of `item`. */
const WAVAX = '0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7'

/** The ledger of one item in the listing of ALICE, the job's only wallet. */
const ledgerOf = (of: Item) => flatten({ [ALICE]: of }).rows.ledger

const brief = (rows: Json[]) =>
  rows.map(({ entry_type, direction, value, source }) => `${entry_type} ${direction} ${value} ${source}`)

const method = (name: string, id: string) => ({
  callType: 'CONTRACT_CALL',
  methodName: name,
  methodHash: id,
})
const DEPOSIT = method('deposit()', '0xd0e30db0')
const WITHDRAW = method('withdraw(uint256)', '0x2e1a7d4d')

const deposit = (changes: Json = {}, lists: Json = {}) =>
  item({ to: party(WAVAX), value: '5', method: DEPOSIT, ...changes }, lists)
const paidOut = (changes: Json = {}) =>
  internal({ from: party(WAVAX), to: party(ALICE), value: '5', ...changes })
const withdraw = (changes: Json = {}, lists: Json = { internalTransactions: [paidOut()] }) =>
  item({ to: party(WAVAX), method: WITHDRAW, ...changes }, lists)
const event = (changes: Json = {}, token: Json = {}) =>
  erc20({ value: '5', ...changes }, { address: WAVAX, symbol: 'WAVAX', decimals: 18, ...token })

const WRAPPED = ['transfer out -5 transactions', 'wrap in 5 transactions']
const UNWRAPPED = ['unwrap out -5 internal_transactions', 'transfer in 5 internal_transactions']

describe('wrapping', () => {
  test('adds the token after the coin, in a row of the same fact', () => {
    const [coin, token] = ledgerOf(deposit({ to: party(WAVAX, 'WAVAX contract') }))
    expect(coin).toMatchObject({ entry_type: 'transfer', asset_type: 'native', value: '-5', entry_index: 0 })
    expect(token).toMatchObject({
      entry_type: 'wrap',
      direction: 'in',
      entry_index: 1,
      source: 'transactions',
      counterparty_address: WAVAX,
      counterparty_name: 'WAVAX contract',
      counterparty_is_own: false,
      asset_type: 'erc20',
      asset_address: WAVAX,
      asset_symbol: 'WAVAX',
      asset_decimals: 18,
      token_id: null,
      value: '5',
      amount: '0.000000000000000005',
      method_name: 'deposit()',
    })
    expect(token?.entry_id).not.toBe(coin?.entry_id)
  })

  test('works by a plain send, and with unknown methods and status', () => {
    expect(brief(ledgerOf(deposit({ method: undefined })))).toEqual(WRAPPED)
    expect(brief(ledgerOf(deposit({ method: method('', '0x12345678') })))).toEqual(WRAPPED)
    expect(brief(ledgerOf(deposit({ txStatus: '7' })))).toEqual(WRAPPED)
    expect(brief(ledgerOf(deposit({ to: party(`0x${WAVAX.slice(2).toUpperCase()}`) })))).toEqual(WRAPPED)
  })

  test('works through internal calls of a contract wallet, several times in one transaction', () => {
    const call = (changes: Json) => internal({ to: party(WAVAX), ...changes })
    const calls = [call({ value: '5' }), call({ value: '6' }), call({ value: '5' })]
    const called = item({ from: party(BOB), to: party(ALICE) }, { internalTransactions: calls })
    const rows = ledgerOf(called)
    expect(brief(rows)).toEqual(
      ['5', '6', '5'].flatMap((value) => [
        `transfer out -${value} internal_transactions`,
        `wrap in ${value} internal_transactions`,
      ]),
    )
    expect(new Set(rows.map(({ entry_id }) => entry_id)).size).toBe(6)
  })

  test.for([
    { when: 'the transaction failed', of: deposit({ txStatus: '0' }) },
    { when: 'the value is zero', of: deposit({ value: '0' }) },
  ])('adds nothing if $when', ({ of }) => {
    expect(ledgerOf(of)).toEqual([])
  })

  test.for([
    { when: 'is reverted', changes: { isReverted: true }, rows: [] },
    { when: 'is a creation', changes: { internalTxType: 'CREATE' }, rows: ['transfer out -10'] },
    { when: 'may be a self-destruct', changes: { internalTxType: 'UNKNOWN' }, rows: ['transfer out -10'] },
    { when: 'moves nothing', changes: { internalTxType: 'DELEGATECALL' }, rows: [] },
    { when: 'has no kind', changes: { internalTxType: undefined }, rows: ['transfer out -10', 'wrap in 10'] },
  ])('follows an internal transaction that $when', ({ changes, rows }) => {
    const calls = { internalTransactions: [internal({ to: party(WAVAX), ...changes })] }
    const found = brief(ledgerOf(item({ from: party(BOB), to: party(ALICE) }, calls)))
    expect(found).toEqual(rows.map((row) => `${row} internal_transactions`))
  })

  test('ignores the repeated top-level call', () => {
    const gas = { gasUsed: '21000', gasLimit: '30000' }
    const lists = { internalTransactions: [internal({ to: party(WAVAX), value: '5' })] }
    expect(brief(ledgerOf(deposit(gas, lists)))).toEqual(WRAPPED)
  })

  test.for([
    { when: 'mints the tokens', changes: { from: party(ZERO), to: party(ALICE) } },
    { when: 'sends the tokens from the contract', changes: { from: party(WAVAX), to: party(ALICE) } },
  ])('adds nothing if a Transfer event $when', ({ changes }) => {
    const types = ledgerOf(deposit({}, { erc20Transfers: [event(changes)] }))
    expect(types.map(({ entry_type }) => entry_type)).not.toContain('wrap')
    expect(types.filter(({ asset_address }) => asset_address === WAVAX)).toHaveLength(1)
  })

  test.for([
    { when: 'credits another wallet', changes: { from: party(ZERO), to: party(BOB) }, token: {} },
    { when: 'debits the wallet', changes: { from: party(ALICE), to: party(BOB) }, token: {} },
    { when: 'has another value', changes: { from: party(ZERO), to: party(ALICE), value: '6' }, token: {} },
    { when: 'is a self-transfer', changes: { from: party(ALICE), to: party(ALICE) }, token: {} },
    { when: 'is one of another token', changes: { to: party(ALICE) }, token: { address: TOKEN } },
  ])('adds the token although a Transfer event $when', ({ changes, token }) => {
    const rows = ledgerOf(deposit({}, { erc20Transfers: [event(changes, token)] }))
    expect(brief(rows).slice(0, 2)).toEqual(WRAPPED)
  })

  test('belongs to the sender only, even if the contract is a wallet of the job', () => {
    const rows = flatten({ [ALICE]: deposit(), [WAVAX]: deposit() }).rows.ledger
    expect(rows.map(({ wallet_address, entry_type, value }) => [wallet_address, entry_type, value])).toEqual([
      [ALICE, 'transfer', '-5'],
      [ALICE, 'wrap', '5'],
      [WAVAX, 'transfer', '5'],
    ])
    expect(rows[1]).toMatchObject({ counterparty_is_own: true })
    const toItself = deposit({ from: party(WAVAX) })
    expect(brief(flatten({ [WAVAX]: toItself }).rows.ledger)).toEqual([
      'self out -5 transactions',
      'self in 5 transactions',
    ])
  })

  test('needs a contract that the table of chains lists', () => {
    expect(brief(ledgerOf(deposit({ to: party(TOKEN) })))).toEqual(['transfer out -5 transactions'])
    const base = flatten({ [ALICE]: deposit({ chainId: '8453' }) }, { chain: '8453' }).rows.ledger
    expect(brief(base)).toEqual(['transfer out -5 transactions'])
    const onBase = deposit({ chainId: '8453', to: party('0x4200000000000000000000000000000000000006') })
    const [, token] = flatten({ [ALICE]: onBase }, { chain: '8453' }).rows.ledger
    expect(token).toMatchObject({ entry_type: 'wrap', asset_symbol: 'WETH' })
  })

  test('can be turned off', () => {
    const off = { wrappedCoinOf: () => undefined }
    expect(brief(flatten({ [ALICE]: deposit() }, off).rows.ledger)).toEqual([WRAPPED[0]])
    expect(brief(flatten({ [ALICE]: withdraw() }, off).rows.ledger)).toEqual([UNWRAPPED[1]])
  })
})

describe('unwrapping', () => {
  test('adds the token before the coin, in a row of the same fact', () => {
    const [token, coin] = ledgerOf(withdraw())
    expect(coin).toMatchObject({ entry_type: 'transfer', direction: 'in', value: '5', entry_index: 1 })
    expect(token).toMatchObject({
      entry_type: 'unwrap',
      direction: 'out',
      entry_index: 0,
      source: 'internal_transactions',
      counterparty_address: WAVAX,
      asset_type: 'erc20',
      asset_address: WAVAX,
      asset_decimals: 18,
      value: '-5',
      amount: '-0.000000000000000005',
    })
  })

  test.for([
    { how: 'by name, without a selector', method: { methodName: 'withdraw(uint256)' } },
    { how: 'by a bare name', method: { methodName: 'withdraw' } },
    { how: 'by selector, whatever its name', method: method('take()', '0x2E1A7D4D') },
  ])('recognizes withdraw $how', ({ method }) => {
    expect(brief(ledgerOf(withdraw({ method })))).toEqual(UNWRAPPED)
  })

  test.for([
    { when: 'calls another method', changes: { method: method('withdraw(uint256)', '0xd0e30db0') } },
    { when: 'calls no method', changes: { method: undefined } },
    { when: 'is sent by somebody else', changes: { from: party(BOB) } },
  ])('adds nothing if a transaction to the contract $when', ({ changes }) => {
    expect(brief(ledgerOf(withdraw(changes)))).toEqual([UNWRAPPED[1]])
  })

  test('works through internal calls of a contract wallet, whose method is not listed', () => {
    const lists = { internalTransactions: [paidOut(), paidOut({ isReverted: true, value: '9' })] }
    const called = item({ from: party(BOB), to: party(ALICE), method: method('go()', '0x0f59f83a') }, lists)
    expect(brief(ledgerOf(called))).toEqual(UNWRAPPED)
  })

  test('adds nothing if the transaction failed or the contract was destroyed', () => {
    expect(ledgerOf(withdraw({ txStatus: '0' }))).toEqual([])
    const destroyed = { internalTransactions: [paidOut({ internalTxType: 'UNKNOWN' })] }
    expect(brief(ledgerOf(withdraw({}, destroyed)))).toEqual([UNWRAPPED[1]])
  })

  test('adds nothing if a Transfer event debits the wallet by the same value', () => {
    const burnt = (changes: Json) => {
      const lists = { internalTransactions: [paidOut()], erc20Transfers: [event(changes)] }
      return ledgerOf(withdraw({}, lists)).filter(({ entry_type }) => entry_type === 'unwrap').length
    }
    expect(burnt({ from: party(ALICE), to: party(ZERO) })).toBe(0)
    expect(burnt({ from: party(BOB), to: party(ZERO) })).toBe(1)
    expect(burnt({ from: party(ALICE), to: party(ZERO), value: '4' })).toBe(1)
  })

  test('a router that unwraps on behalf of a wallet gives it coins only', () => {
    const lists = { internalTransactions: [internal({ from: party(CAROL), to: party(ALICE), value: '5' })] }
    expect(brief(ledgerOf(item({ to: party(CAROL) }, lists)))).toEqual([UNWRAPPED[1]])
  })
})

/** Steps of a contract wallet in one transaction, and what each does to its coins and wrapped tokens. */
const STEPS = {
  wrap: {
    coins: -1n,
    tokens: 1n,
    internal: { to: party(WAVAX) },
    mint: { from: party(ZERO), to: party(ALICE) },
  },
  unwrap: {
    coins: 1n,
    tokens: -1n,
    internal: { from: party(WAVAX), to: party(ALICE) },
    mint: { from: party(ALICE), to: party(ZERO) },
  },
  'reverted wrap': { coins: 0n, tokens: 0n, internal: { to: party(WAVAX), isReverted: true } },
  pay: { coins: -1n, tokens: 0n, internal: { to: party(CAROL) } },
  receive: { coins: 1n, tokens: 0n, internal: { from: party(CAROL), to: party(ALICE) } },
  'pay tokens': { coins: 0n, tokens: -1n, event: { to: party(CAROL) } },
  'receive tokens': { coins: 0n, tokens: 1n, event: { from: party(CAROL), to: party(ALICE) } },
} as const satisfies Record<
  string,
  { coins: bigint; tokens: bigint; internal?: Json; event?: Json; mint?: Json }
>
type Step = { coins: bigint; tokens: bigint; internal?: Json; event?: Json; mint?: Json }

test('the ledger follows the balances of a contract wallet, whether or not the contract emits events', () => {
  const names = fc.array(fc.constantFrom(...(Object.keys(STEPS) as (keyof typeof STEPS)[])), {
    maxLength: 12,
  })
  fc.assert(
    fc.property(names, fc.boolean(), (taken, emits) => {
      // Values differ: an event of the same value would account for a wrap.
      const steps = taken.map((name, at): Step & { value: bigint } => ({
        ...STEPS[name],
        value: BigInt(at + 1),
      }))
      const lists = {
        internalTransactions: steps.flatMap(({ internal: call, value }) =>
          call === undefined ? [] : [internal({ ...call, value: `${value}` })],
        ),
        erc20Transfers: steps.flatMap(({ event: moved, mint, value }, logIndex) => {
          const changes = moved ?? (emits ? mint : undefined)
          return changes === undefined ? [] : [event({ ...changes, logIndex, value: `${value}` })]
        }),
      }
      const rows = ledgerOf(item({ from: party(BOB), to: party(ALICE) }, lists))
      const sum = (kind: string) =>
        rows.reduce(
          (total, { asset_type, value }) => (asset_type === kind ? total + BigInt(String(value)) : total),
          0n,
        )
      const expected = (side: 'coins' | 'tokens') =>
        steps.reduce((total, step) => total + step[side] * step.value, 0n)
      expect([sum('native'), sum('erc20')]).toEqual([expected('coins'), expected('tokens')])
    }),
    { numRuns: 100, seed: 39 },
  )
})

/** A contract of the recorded chain that wraps its coin without Transfer events. */
const WNAT = '0x6862af323ade3515643b9c3de485082d78689eeb'

test("equals the node's balances of a wrapped coin at every checkpoint", () => {
  const file = new URL('../../src/demo-server/chains/43114/transactions-full.ndjson.gz', import.meta.url)
  const lines = gunzipSync(readFileSync(file)).toString().split('\n')
  const items = lines
    .filter((line) => line.toLowerCase().includes(WNAT))
    .map((line) => JSON.parse(line) as Item)
  const context = {
    wallets: new Map(demoWallets.map((wallet) => [wallet, null])),
    wrappedCoinOf: () => ({ contracts: [WNAT], symbol: 'WNAT' }),
  }
  const rows = items.flatMap((of) => flatten({ [demoWallets[0] ?? '']: of }, context).rows.ledger)
  const tokens = rows.filter(({ asset_address }) => asset_address === WNAT)
  const count = (type: string) => tokens.filter(({ entry_type }) => entry_type === type).length
  expect([count('wrap'), count('unwrap')]).toEqual([99, 63])
  const truth = Object.entries(nodeData.erc20).find(([address]) => address.toLowerCase() === WNAT)?.[1]
  let checks = 0
  for (const [block, balances] of Object.entries(truth?.checkpoints ?? {}))
    for (const [wallet, balance] of Object.entries(balances)) {
      const mine = tokens.filter(
        (row) => row.wallet_address === wallet.toLowerCase() && Number(row.block_number) <= Number(block),
      )
      const sum = mine.reduce((total, { value }) => total + BigInt(String(value)), 0n)
      expect([block, wallet, `${sum}`]).toEqual([block, wallet, balance])
      checks += 1
    }
  expect(checks).toBe(141)
})
