import { keccak256 } from '../../../src/core/platform/keccak256.ts'
import type { ChainState } from '../../../src/demo-server/chain-state.ts'
import type { JsonObject } from '../../../src/demo-server/json.ts'
import { digest, PORTFOLIO_CHAIN } from '../../../src/demo-server/portfolio-prices.ts'
import { openBalanceBook } from './balance-book.ts'
import { type Party, type Token, type Transfer, ZERO_ADDRESS } from './parties.ts'

export type NewTransaction = {
  /** Seconds since 1970. */
  readonly time: number
  readonly from: Party
  readonly to: Party
  readonly value?: bigint
  /** Signature of the called method; a plain transfer has none. */
  readonly method?: string
  readonly gas: number
  readonly isFailed?: boolean
  readonly transfers?: readonly Transfer[]
}

const FIRST_BLOCK = 165_788_000
const FIRST_SECOND = Date.parse('2024-01-01') / 1000
const BLOCKS_PER_SECOND = 4

/**
 * Writes the transactions of a chain in the shape of the interface (section 2), in the order of the calls, with the balances
 * of some wallets after each of them. `send` throws if one of these spends what it does not have.
 */
export function createChainWriter(wallets: readonly Party[]) {
  const items: JsonObject[] = []
  const book = openBalanceBook(wallets)
  let block = 0
  return {
    send(transaction: NewTransaction): void {
      const { time, from, to, value = 0n, gas, isFailed = false, transfers = [] } = transaction
      block = Math.max(block + 1, FIRST_BLOCK + (time - FIRST_SECOND) * BLOCKS_PER_SECOND)
      const gasPrice = 10_000_000n + BigInt(`0x${digest(`gas ${block}`).slice(0, 7)}`)
      const moved = isFailed ? [] : [{ from, to, value }, ...transfers]
      book.move({ from, to: ZERO_ADDRESS, value: BigInt(gas) * gasPrice }, block)
      for (const transfer of moved) if (transfer.value > 0n) book.move(transfer, block)
      items.push(itemOf(transaction, { block, gasPrice, nonce: items.length }))
    },
    balance: book.balance,
    finish: (): { items: readonly JsonObject[]; state: ChainState } => ({ items, state: book.state }),
  }
}

export type ChainWriter = ReturnType<typeof createChainWriter>

type Position = { block: number; gasPrice: bigint; nonce: number }

function itemOf(transaction: NewTransaction, { block, gasPrice, nonce }: Position): JsonObject {
  const { time, from, to, value = 0n, method, gas, isFailed = false, transfers = [] } = transaction
  const moved = isFailed ? [] : transfers
  const tokens = moved.filter(({ token }) => token !== undefined)
  const logOf = new Map(tokens.map((transfer, at) => [transfer, at]))
  const listOf = (belongs: (transfer: Transfer) => boolean, name: string) =>
    tokens.filter(belongs).map((transfer) => tokenTransfer(transfer, name, logOf.get(transfer) ?? 0))
  return {
    nativeTransaction: {
      blockNumber: String(block),
      blockTimestamp: time,
      blockHash: `0x${digest(`block ${block}`)}`,
      chainId: PORTFOLIO_CHAIN,
      blockIndex: 1,
      txHash: `0x${digest(`transaction ${block}`)}`,
      txStatus: isFailed ? '0' : '1',
      txType: 2,
      gasLimit: String(gas * 2),
      gasUsed: String(gas),
      gasPrice: String(gasPrice),
      nonce: String(nonce),
      from,
      to,
      method:
        method === undefined
          ? { callType: 'NATIVE_TRANSFER', methodHash: '', methodName: 'Native Transfer' }
          : { callType: 'CONTRACT_CALL', methodHash: selectorOf(method), methodName: method },
      value: String(value),
    },
    erc20Transfers: listOf(({ tokenId }) => tokenId === undefined, 'erc20Token'),
    erc721Transfers: listOf(({ tokenId, isMulti }) => tokenId !== undefined && !isMulti, 'erc721Token'),
    erc1155Transfers: listOf(({ isMulti }) => isMulti === true, 'erc1155Token'),
    internalTransactions: moved
      .filter(({ token }) => token === undefined)
      .map((coins) => ({
        from: coins.from,
        to: coins.to,
        internalTxType: 'CALL',
        value: String(coins.value),
        isReverted: false,
        gasUsed: '0',
        gasLimit: '2300',
      })),
  }
}

/** The first four bytes of the hash of a method's signature, with which calls of it begin. */
const selectorOf = (method: string): string => `0x${keccak256(method).subarray(0, 4).toString('hex')}`

const ERC_TYPES: Readonly<Record<string, string>> = {
  erc20Token: 'ERC-20',
  erc721Token: 'ERC-721',
  erc1155Token: 'ERC-1155',
}

function tokenTransfer(
  { from, to, value, token, tokenId }: Transfer,
  name: string,
  logIndex: number,
): JsonObject {
  const { decimals, ...named } = token as Token
  const nft =
    tokenId === undefined ? { decimals } : { tokenId, tokenUri: '', metadata: { indexStatus: 'UNINDEXED' } }
  const amount = name === 'erc721Token' ? {} : { value: String(value) }
  return { from, to, logIndex, ...amount, [name]: { ...named, ...nft, ercType: ERC_TYPES[name] } }
}
