import type { Asset, Movement } from '../../src/accounting/movement.ts'

const hex = (seed: string, digits: number) =>
  Buffer.from(seed.padEnd(digits, '.')).toString('hex').slice(0, digits)

const WALLET = `0x${'a'.repeat(40)}`

export const COIN: Asset = { type: 'native', address: null, symbol: 'AVAX', decimals: 18, tokenId: null }

export function token(symbol: string, decimals: number | null = 6): Asset {
  return { type: 'erc20', address: `0x${hex(symbol, 40)}`, symbol, decimals, tokenId: null }
}

export function nft(symbol: string, tokenId: string): Asset {
  return { type: 'erc721', address: `0x${hex(symbol, 40)}`, symbol, decimals: 0, tokenId }
}

let entries = 0

/** Creates a movement. Fields that are not given are those of a transfer that the wallet sends. */
export function movement(given: Partial<Movement> & { asset: Asset; value: bigint }): Movement {
  entries += 1
  return {
    time: '2024-02-29T23:59:59.000Z',
    transaction: `0x${hex('transaction', 64)}`,
    chain: '43114',
    entry: hex(`entry ${entries}`, 32),
    wallet: WALLET,
    label: null,
    type: 'transfer',
    isOut: true,
    counterparty: `0x${'b'.repeat(40)}`,
    isOwn: false,
    method: 'swapExactTokensForTokens(uint256,uint256,address[],address,uint256)',
    block: '41000000',
    index: '0',
    source: 'erc20_transfers',
    ...given,
  }
}
