import { expect, test } from 'vitest'
import { formatAmount } from '../../../src/accounting/format-amount.ts'
import { caipName, methodName, safeText, tickerName } from '../../../src/accounting/names/names.ts'
import { COIN, nft, token } from '../made-up.ts'

test.for([
  { symbol: 'USDC.e', name: /^USDC\.e-[0-9a-f]{8}$/ },
  { symbol: '=HYPERLINK("http://x")', name: /^HYPERLINKhtt-[0-9a-f]{8}$/ },
  { symbol: '\u202eCDSU\u200b', name: /^CDSU-[0-9a-f]{8}$/ },
  { symbol: '"; drop', name: /^drop-[0-9a-f]{8}$/ },
  { symbol: 'ＵＳＤＴ', name: /^USDT-[0-9a-f]{8}$/ },
  { symbol: '\u0000\n', name: /^TOKEN-[0-9a-f]{8}$/ },
  { symbol: '币🚀', name: /^币-[0-9a-f]{8}$/ },
  { symbol: 'a/b', name: /^ab-[0-9a-f]{8}$/ },
  { symbol: '(-SUM', name: /^SUM-[0-9a-f]{8}$/ },
  { symbol: '$(--5+5', name: /^55-[0-9a-f]{8}$/ },
  { symbol: '🚀-', name: /^TOKEN-[0-9a-f]{8}$/ },
  { symbol: '(.eth', name: /^\.eth-[0-9a-f]{8}$/ },
  { symbol: '_a-b', name: /^_a-b-[0-9a-f]{8}$/ },
])('turns the symbol $symbol into a safe name', ({ symbol, name }) => {
  expect(tickerName(token(symbol))).toMatch(name)
})

test('names tokens by symbol and contract, the coin by symbol, and NFTs with their id', () => {
  expect(tickerName({ ...token('USDC'), address: `0x${'1'.repeat(40)}` })).toBe('USDC-11111111')
  expect(tickerName(COIN)).toBe('AVAX')
  expect(tickerName({ ...nft('APE', '12'), address: `0x${'2'.repeat(40)}` })).toBe('APE-22222222#12')
  const { address } = token('USDC')
  expect(caipName(token('USDC'), '1', {})).toBe(`eip155:1/erc20:${address}`)
})

test('identifies the coin of a chain by the table of the program, whatever symbol the export has', () => {
  const coinIds = { AVAX: 'AVAX', POL: 'eip155:137/erc20:0x0000000000000000000000000000000000001010' }
  expect(caipName({ ...COIN, symbol: 'X' }, '43114', coinIds)).toBe('AVAX')
  expect(caipName({ ...COIN, symbol: 'POL' }, '137', coinIds)).toBe(coinIds.POL)
  for (const unknown of ['25', '987654321']) expect(caipName(COIN, unknown, coinIds)).toBe('')
  expect(caipName({ ...COIN, ticker: 'MINE' }, '25', coinIds)).toBe('MINE')
})

test('removes control characters, invisible characters and formula characters from text', () => {
  expect(safeText('  =1+1;\u001b[2J\u200b"x"\n')).toBe('1+1[2Jx')
})

test('the name of a method has no parameters, which could be cut off in the middle of a word', () => {
  expect(methodName('swapExactTokensForTokens(uint256,uint256,address[],address,uint256)')).toBe(
    'swapExactTokensForTokens',
  )
  expect(methodName('(uint256)')).toBe('(uint256)')
})

test('cuts the name of a method between characters, not within one', () => {
  expect(methodName(`${'m'.repeat(59)}🚀🚀`)).toBe(`${'m'.repeat(59)}🚀`)
})

test.for([
  { value: 1n, decimals: 18, rules: {}, text: '0.000000000000000001' },
  { value: 5n, decimals: 0, rules: { needsPoint: true }, text: '5.0' },
  { value: 2n ** 256n - 1n, decimals: 0, rules: {}, text: String(2n ** 256n - 1n) },
  { value: 1_234_567_891n, decimals: 9, rules: { maxDecimals: 8 }, text: '1.23456789' },
  { value: 9n, decimals: 9, rules: { maxDecimals: 8 }, text: '0' },
  { value: 10n ** 30n, decimals: 2, rules: { maxDigits: 28 }, text: undefined },
  { value: 1n, decimals: null, rules: {}, text: undefined },
  { value: 1n, decimals: 256, rules: {}, text: undefined },
])('formats $value with $decimals decimals as $text', ({ value, decimals, rules, text }) => {
  expect(formatAmount(value, decimals, rules)).toBe(text)
})
