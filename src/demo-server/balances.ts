import { atomicBalance } from './atomic.ts'
import { describeChain } from './chain-info.ts'
import { recordedAt } from './chain-state.ts'
import { HttpError } from './http-error.ts'
import type { JsonObject } from './json.ts'
import type { Call, Operation, Service } from './operation.ts'
import { limitPage, readAddress, readInteger, readPageQuery, readSingle } from './parameters.ts'

/** Returns the balance of the native coin after a block. */
export const showNativeBalance: Operation = async (call, service) => {
  const { chain, state, address, block } = await openBalances(call, service)
  const recorded = BigInt(recordedAt(state.native[address], block) ?? '0')
  const balance = String(recorded + (await atomicBalance(chain, address, block, service)))
  const { networkToken } = describeChain(chain.id)
  return { nativeTokenBalance: { ...networkToken, chainId: chain.id, balance } }
}

/** Lists the ERC-20 balances after a block that are not zero, by contract. */
export const listErc20Balances: Operation = async (call, service) => {
  const opened = await openBalances(call, service)
  const { chain, state, address, block, contracts } = opened
  const wanted = contracts === undefined ? undefined : new Set(contracts.map(readAddress))
  const balances = Object.entries(state.erc20).flatMap(([contract, { balances, ...token }]) => {
    const balance = recordedAt(balances[address], block) ?? '0'
    if (balance === '0' || wanted?.has(contract) === false) return []
    return [{ address: contract, ...token, ercType: 'ERC-20', chainId: chain.id, balance }]
  })
  return pageOf('erc20TokenBalances', balances, opened, service)
}

/** Lists the ERC-1155 balances after a block that are not zero, by contract and token id. */
export const listErc1155Balances: Operation = async (call, service) => {
  const opened = await openBalances(call, service)
  const { chain, state, address, block } = opened
  const balances = Object.entries(state.erc1155).flatMap(([contract, tokens]) =>
    Object.entries(tokens).flatMap(([tokenId, wallets]) => {
      const balance = recordedAt(wallets[address], block) ?? '0'
      const token = { address: contract, ercType: 'ERC-1155', chainId: chain.id }
      return balance === '0' ? [] : [{ ...token, tokenId, balance }]
    }),
  )
  return pageOf('erc1155TokenBalances', balances, opened, service)
}

/** Lists the ERC-721 tokens that a wallet owns now. */
export const listErc721Balances: Operation = async (call, service) => {
  const opened = await openBalances(call, service, { atHead: true })
  const { chain, state, address, block } = opened
  const owned = Object.entries(state.erc721).flatMap(([contract, { owners, ...token }]) =>
    Object.entries(owners).flatMap(([tokenId, recorded]) =>
      recordedAt(recorded, block) === address
        ? [{ address: contract, ...token, ercType: 'ERC-721', tokenId, chainId: chain.id }]
        : [],
    ),
  )
  return pageOf('erc721TokenBalances', owned, opened, service)
}

type Opened = Awaited<ReturnType<typeof openBalances>>

/**
 * Reads the address and the block, by default the head. Throws `HttpError`: 404 if there is no recorded state of the
 * chain or the address, 400 for a block after the head.
 */
async function openBalances({ path, query }: Call, { chains }: Service, { atHead = false } = {}) {
  const chain = chains.get(path.chainId)
  const address = readAddress(path.address)
  const state = await chain.state()
  if (state === undefined) throw new HttpError(404, `chain ${chain.id} has no recorded balances here.`)
  const { positionsOf } = await chain.items()
  if (state.native[address] === undefined && positionsOf(address).length > 0)
    throw new HttpError(404, `the balances of ${address} are not recorded here.`)
  const head = Math.min(chain.head(), await chain.last())
  const page = readPageQuery(query)
  const requested = readInteger(query, 'blockNumber')
  const contracts = readSingle(query, 'contractAddresses')?.split(',')
  const block = atHead ? head : (requested ?? head)
  if (block > head)
    throw new HttpError(400, `blockNumber must not be after the head ${head}, but is ${block}.`)
  return { chain, state, address, block, page, contracts, query }
}

function pageOf(
  name: string,
  balances: readonly (JsonObject & { readonly address: string })[],
  { chain, address, block, page, contracts, query }: Opened,
  { selectPage, quirks }: Service,
) {
  const byContract = balances.toSorted((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0))
  const key = [name, chain.id, address, block, contracts?.join(',') ?? null, page.pageSize]
  const { selected, next } = selectPage(byContract, key, limitPage(page, query, quirks))
  return { ...next, [name]: selected }
}
