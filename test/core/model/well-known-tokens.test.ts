import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { chainOf, wrappedCoinOf } from '../../../src/core/model/chains.ts'
import { WELL_KNOWN_CONTRACTS } from '../../../src/core/model/well-known-contracts.ts'
import {
  knownContracts,
  WELL_KNOWN_TOKENS_VERSION,
  wellKnownTokens,
} from '../../../src/core/model/well-known-tokens.ts'

const chains = Object.keys(WELL_KNOWN_CONTRACTS)
const WRAPPED = ['1', '10', '25', '56', '97', '100', '137', '204', '8453', '43113', '43114', '11155111']

test.for(chains)('chain %s is in the table of chains', (chain) => {
  expect(chainOf(chain)?.id).toBe(chain)
})

test.for(chains)('the rows of chain %s have the form that look-ups rely on, and two sources', (chain) => {
  for (const [ticker, decimals, contract, sources] of WELL_KNOWN_CONTRACTS[chain] ?? []) {
    expect(ticker).toMatch(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,18}[A-Za-z0-9])?$/)
    expect(decimals).toBeLessThanOrEqual(18)
    expect(contract).toMatch(/^0x[0-9a-f]{40}$/)
    expect(sources).toMatch(/^[ABEGJKLMNOPRSUVW]{2,}$/)
    expect(new Set(sources).size).toBe(sources.length)
  }
})

test.for([...new Set([...chains, ...WRAPPED])])('each ticker of chain %s stands for one asset', (chain) => {
  const rows = WELL_KNOWN_CONTRACTS[chain] ?? []
  const wrapped = wrappedCoinOf({ chain })?.contracts ?? []
  const contracts = [...wrapped, ...rows.map(([, , contract]) => contract)]
  expect(new Set(contracts).size).toBe(contracts.length)
  const names = [...wellKnownTokens(chain).values()].map(({ ticker }) => ticker.toLowerCase())
  const all = [...names, chainOf(chain)?.symbol.toLowerCase()]
  expect(new Set(all).size).toBe(all.length)
})

test.for(WRAPPED)('the wrapped coin of chain %s has the symbol of the table of chains', (chain) => {
  const { contracts, symbol } = wrappedCoinOf({ chain }) ?? { contracts: [], symbol: '' }
  expect(wellKnownTokens(chain).get(contracts[0] ?? '')).toEqual({ ticker: symbol, decimals: 18 })
  for (const contract of contracts) expect(knownContracts(chain)).toContain(contract)
})

test('another spelling of a chain has the same tokens, and an unknown chain has none', () => {
  expect(wellKnownTokens('0xa86a').get('0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e')).toEqual({
    ticker: 'USDC',
    decimals: 6,
  })
  expect([...wellKnownTokens('999999999')]).toEqual([])
})

test('a changed table has a new version', () => {
  const digest = createHash('sha256').update(JSON.stringify(WELL_KNOWN_CONTRACTS)).digest('hex').slice(0, 16)
  expect({ [WELL_KNOWN_TOKENS_VERSION]: digest }).toEqual({ '2026-11': '7c42f1d87953bf55' })
})
