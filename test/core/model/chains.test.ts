import { expect, test } from 'vitest'
import {
  chainIdByName,
  chainOf,
  coinContractsOf,
  evmIdOf,
  isOfChain,
} from '../../../src/core/model/chains.ts'

const C_CHAIN = '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5'

test.for([
  { spelling: 43114, id: '43114' },
  { spelling: '43114', id: '43114' },
  { spelling: '0043114', id: '43114' },
  { spelling: '0xa86a', id: '43114' },
  { spelling: '0XA86A', id: '43114' },
  { spelling: C_CHAIN, id: '43114' },
  { spelling: '', id: undefined },
  { spelling: ' 1', id: undefined },
  { spelling: '1.0', id: undefined },
  { spelling: 1.5, id: undefined },
  { spelling: -1, id: undefined },
  { spelling: null, id: undefined },
  { spelling: {}, id: undefined },
  { spelling: 'fuji', id: undefined },
])('maps $spelling to the EVM id $id', ({ spelling, id }) => {
  expect(evmIdOf(spelling)).toBe(id)
})

test('finds a chain by any spelling of its id', () => {
  for (const spelling of ['43114', '0xa86a', C_CHAIN])
    expect(chainOf(spelling)).toMatchObject({ name: 'Avalanche C-Chain', symbol: 'AVAX' })
  expect(chainOf('999999999')).toBeUndefined()
})

test.for([
  { requested: '43114', named: ['43114', 43114, '0xa86a', C_CHAIN, undefined, null, ''] },
  { requested: C_CHAIN, named: ['43114', 43114, '0xa86a', C_CHAIN, undefined] },
  { requested: '0xa86a', named: ['43114', 43114, '0xA86A'] },
  { requested: 'an-unknown-blockchain', named: ['43114', 1, 'an-unknown-blockchain'] },
])('accepts the chain ids $named in records of chain $requested', ({ requested, named }) => {
  for (const one of named) expect(isOfChain(one, requested)).toBe(true)
})

test.for([
  { requested: '43114', named: ['1', 1, '43113', '0x1', 'fuji', 43114.5, true, {}, []] },
  { requested: C_CHAIN, named: ['1', 43113] },
])('rejects the chain ids $named in records of chain $requested', ({ requested, named }) => {
  for (const one of named) expect(isOfChain(one, requested)).toBe(false)
})

test('knows contracts that present the native coin as a token only on Polygon and zkSync Era', () => {
  for (const chain of ['137', '80001', '80002'])
    expect(coinContractsOf(chain)).toEqual(['0x0000000000000000000000000000000000001010'])
  for (const chain of ['324', '300', '280'])
    expect(coinContractsOf(chain)).toEqual(['0x000000000000000000000000000000000000800a'])
  for (const chain of ['1', '43114', 'unknown']) expect(coinContractsOf(chain)).toEqual([])
})

test.for([
  { word: 'avalanche', id: '43114' },
  { word: 'Avalanche C-Chain', id: '43114' },
  { word: 'fuji', id: '43113' },
  { word: 'ethereum', id: '1' },
  { word: 'Base', id: '8453' },
  { word: '43114', id: undefined },
  { word: C_CHAIN, id: undefined },
  { word: 'my-own-chain', id: undefined },
])('maps the chain name $word to the id $id', ({ word, id }) => {
  expect(chainIdByName(word)).toBe(id)
})
