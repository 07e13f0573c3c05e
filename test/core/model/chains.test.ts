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
  { spelled: 43114, id: '43114' },
  { spelled: '43114', id: '43114' },
  { spelled: '0043114', id: '43114' },
  { spelled: '0xa86a', id: '43114' },
  { spelled: '0XA86A', id: '43114' },
  { spelled: C_CHAIN, id: '43114' },
  { spelled: '', id: undefined },
  { spelled: ' 1', id: undefined },
  { spelled: '1.0', id: undefined },
  { spelled: 1.5, id: undefined },
  { spelled: -1, id: undefined },
  { spelled: null, id: undefined },
  { spelled: {}, id: undefined },
  { spelled: 'fuji', id: undefined },
])('the EVM id of $spelled is $id', ({ spelled, id }) => {
  expect(evmIdOf(spelled)).toBe(id)
})

test('a chain is known by any spelling of its id', () => {
  for (const spelled of ['43114', '0xa86a', C_CHAIN])
    expect(chainOf(spelled)).toMatchObject({ name: 'Avalanche C-Chain', symbol: 'AVAX' })
  expect(chainOf('999999999')).toBeUndefined()
})

test.for([
  { asked: '43114', named: ['43114', 43114, '0xa86a', C_CHAIN, undefined, null, ''] },
  { asked: C_CHAIN, named: ['43114', 43114, '0xa86a', C_CHAIN, undefined] },
  { asked: '0xa86a', named: ['43114', 43114, '0xA86A'] },
  { asked: 'an-unknown-blockchain', named: ['43114', 1, 'an-unknown-blockchain'] },
])('records of chain $asked may name it $named', ({ asked, named }) => {
  for (const one of named) expect(isOfChain(one, asked)).toBe(true)
})

test.for([
  { asked: '43114', named: ['1', 1, '43113', '0x1', 'fuji', 43114.5, true, {}, []] },
  { asked: C_CHAIN, named: ['1', 43113] },
])('records that name chain $named are not of $asked', ({ asked, named }) => {
  for (const one of named) expect(isOfChain(one, asked)).toBe(false)
})

test('the contracts that present a coin as a token are known on Polygon and zkSync Era only', () => {
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
])('the chain that people call $word has the id $id', ({ word, id }) => {
  expect(chainIdByName(word)).toBe(id)
})
