import { expect, onTestFinished, test } from 'vitest'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import { createServiceClient } from '../../../src/index.ts'
import { startLoopback } from '../../helpers/loopback.ts'

const [WALLET, OTHER] = [
  '0x0873cd5bf265685319113fd2a802ef08dc15cec7',
  '0xeb32595b60757dc9a186eb86f2ad41ba5d1ca866',
]

/** A service that refuses pages of more than 40 items, with 504 in descending order, and a client that does not retry. */
async function startRefusing() {
  const { url, requests } = await startLoopback(createDataService({ quirks: ['small-pages'] }))
  const client = createServiceClient({ baseUrl: url, retry: { retries: 0 } })
  onTestFinished(() => client.close())
  return { client, sizes: () => requests.splice(0).map(({ query }) => query.get('pageSize')) }
}

async function countOf(pages: AsyncIterable<{ transactions: readonly unknown[] }>): Promise<number> {
  let count = 0
  for await (const { transactions } of pages) count += transactions.length
  return count
}

test.for(['asc', 'desc'] as const)(
  'a listing that is refused comes in smaller pages, %s',
  async (sortOrder) => {
    const { client, sizes } = await startRefusing()
    const query = { chainId: 43114, sortOrder }
    expect(await countOf(client.listWalletTransactions({ ...query, address: OTHER }))).toBeGreaterThan(20)
    expect(sizes().slice(0, 4)).toEqual(['100', '50', '25', '25'])
    await countOf(client.listWalletTransactions({ ...query, address: WALLET }))
    // A gateway's 504 may have been an outage, so a larger page is tried again soon.
    expect(sizes().slice(0, 2)).toEqual(sortOrder === 'asc' ? ['25', '25'] : ['50', '25'])
  },
)

test('balances that are refused come in smaller pages', async () => {
  const { client, sizes } = await startRefusing()
  const listed = client.listErc1155Balances({ chainId: 43114, address: WALLET })
  for await (const { erc1155TokenBalances } of listed) expect(erc1155TokenBalances.length).toBeLessThan(41)
  expect(sizes().slice(0, 3)).toEqual(['100', '50', '25'])
})

test('a page size that the caller states is kept', async () => {
  const { client, sizes } = await startRefusing()
  const query = { chainId: 43114, address: WALLET, pageSize: 60 }
  await expect(countOf(client.listWalletTransactions(query))).rejects.toMatchObject({ status: 413 })
  expect(sizes()).toEqual(['60'])
})

test('a token of the caller belongs to the default page size, whatever other listings needed', async () => {
  const { client, sizes } = await startRefusing()
  await countOf(client.listWalletTransactions({ chainId: 43114, address: OTHER }))
  sizes()
  const query = { chainId: 43114, address: WALLET, pageToken: 'of an earlier page' }
  await expect(countOf(client.listWalletTransactions(query))).rejects.toThrow()
  expect(sizes()).toEqual(['100'])
})
