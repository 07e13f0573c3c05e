import { expect, test } from 'vitest'
import { isStablecoin, isWrappedNative } from '../../../src/core/model/pegs.ts'

test.for([
  {
    token: 'USDC.e of Avalanche',
    chain: '43114',
    contract: '0xa7d7079b0fead91f3e65f86e8915cb59c1a4c664',
    currency: 'USD',
  },
  {
    token: 'EURC of Ethereum',
    chain: '1',
    contract: '0x1abaea1f7c830bd89acc67ec4af516284b1bc33c',
    currency: 'EUR',
  },
  {
    token: 'sDAI, which earns interest',
    chain: '1',
    contract: '0x83f20f44975d03b1b09e64809b757c47f942beea',
    currency: undefined,
  },
  { token: 'an unknown contract', chain: '1', contract: `0x${'c'.repeat(40)}`, currency: undefined },
])('$token is a stablecoin of $currency', ({ chain, contract, currency }) => {
  expect(['USD', 'EUR'].filter((code) => isStablecoin(chain, contract, code))).toEqual(
    currency === undefined ? [] : [currency],
  )
})

test.for([
  { token: 'WAVAX', chain: '43114', contract: '0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7', is: true },
  {
    token: 'the second WETH of Sepolia',
    chain: '11155111',
    contract: '0x7b79995e5f793a07bc00c21412e50ecae098e7f9',
    is: true,
  },
  {
    token: 'WETH of Arbitrum, which has events',
    chain: '42161',
    contract: '0x82af49447d8a07e3bd95bd0d56f35241523fbab1',
    is: true,
  },
  {
    token: 'WETH of Polygon, whose coin is POL',
    chain: '137',
    contract: '0x7ceb23fd6bc0add59e62ac25578270cff1b9f619',
    is: false,
  },
  { token: 'WBTC', chain: '1', contract: '0x2260fac5e5542a773aa44fbcfedf7c193bc2c599', is: false },
  { token: 'a token of an unknown chain', chain: 'made', contract: `0x${'c'.repeat(40)}`, is: false },
])('$token is the wrapped coin: $is', ({ chain, contract, is }) => {
  expect(isWrappedNative(chain, contract)).toBe(is)
})
