import { expect, test } from 'vitest'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import { readExplorerQuirks } from '../../../src/demo-server/quirks.ts'
import { fetchAll, walletPath } from '../requests.ts'
import { BUSIEST, openExplorer, recordsOf } from './requests.ts'

test('reads the quirks of an API and refuses those of others', () => {
  expect(readExplorerQuirks(['free-plan'], 'etherscan')).toEqual(['free-plan'])
  expect(() => readExplorerQuirks(['free-plan'], 'blockscout')).toThrow(
    'the API blockscout has no quirk "free-plan": expected one of before-9, late-internals',
  )
})

test('free-plan lists at most 1,000 records, whatever the offset', async () => {
  const ask = openExplorer('etherscan', { explorerQuirks: ['free-plan'] })
  expect(await recordsOf(ask, { action: 'txlist', address: BUSIEST, offset: 10_000 })).toHaveLength(1_000)
  expect(await recordsOf(ask, { action: 'txlist', address: BUSIEST })).toHaveLength(1_000)
})

test('late-internals answers ranges at the head with the records so far and status 2', async () => {
  const ask = openExplorer('blockscout', { explorerQuirks: ['late-internals'], head: 400 })
  const listing = { action: 'txlistinternal', address: BUSIEST, sort: 'asc' }
  const { body } = await ask(listing)
  expect(body).toMatchObject({ status: '2', message: expect.stringContaining('not yet been processed') })
  expect(body.result).toEqual(await recordsOf(ask, { ...listing, endblock: 390 }))
  expect((await ask({ ...listing, endblock: 391 })).body.status).toBe('2')
  expect((await ask({ ...listing, action: 'tokentx' })).body.status).toBe('1')
})

type Transfer = { logIndex: number; value?: string; from: { address: string }; to: { address: string } }
type Token = { tokenId: string }

test('before-9 lists the transfers of all standards by their log index, and each batch once', async () => {
  const ask = openExplorer('blockscout', { explorerQuirks: ['before-9'] })
  const items = await fetchAll(createDataService(), walletPath(BUSIEST, 'pageSize=100'))
  const expected = items.flatMap((item) => {
    const hash = item.nativeTransaction.txHash
    const lines = (list: string, movedBy: (transfer: Transfer) => unknown) =>
      ((item[list] ?? []) as Transfer[]).map((transfer) => ({
        at: transfer.logIndex,
        moved: movedBy(transfer),
      }))
    const all = [
      ...lines('erc20Transfers', ({ value }) => value),
      ...lines(
        'erc721Transfers',
        (transfer) => (transfer as unknown as { erc721Token: Token }).erc721Token.tokenId,
      ),
      ...lines('erc1155Transfers', (transfer) => {
        const { tokenId } = (transfer as unknown as { erc1155Token: Token }).erc1155Token
        return `${tokenId} x ${transfer.value}`
      }),
    ].sort((a, b) => a.at - b.at)
    return all.map(({ at, moved }) => `${hash} ${at} ${moved}`)
  })
  const found = (await recordsOf(ask, { action: 'tokentx', address: BUSIEST })).flatMap((record) => {
    const { hash, logIndex, value, tokenID, tokenIDs, values } = record as Record<string, string | string[]>
    const moved = Array.isArray(tokenIDs)
      ? tokenIDs.map((id, at) => `${id} x ${values?.[at]}`)
      : [value ?? tokenID]
    return moved.map((one) => `${hash} ${logIndex} ${one}`)
  })
  expect(found).toEqual(expected)
  expect((await ask({ action: 'token1155tx', address: BUSIEST })).body.message).toBe('Unknown action')
})

test('before-9 names the token of a batch only if there is one', async () => {
  const ask = openExplorer('blockscout', { explorerQuirks: ['before-9'] })
  const records = await recordsOf(ask, { action: 'tokentx', address: BUSIEST })
  const batches = records.filter((record) => 'tokenIDs' in record)
  expect(new Set(batches.map(({ tokenIDs }) => Math.min(2, tokenIDs?.length ?? 0)))).toEqual(new Set([1, 2]))
  for (const { tokenID, tokenIDs } of batches)
    expect(tokenID).toBe(tokenIDs?.length === 1 ? tokenIDs[0] : undefined)
})

test('before-9 keeps the batches of two events apart, and transactions have no method id', async () => {
  const [from, to] = [{ address: `0x${'1'.repeat(40)}` }, { address: `0x${'2'.repeat(40)}` }]
  const entry = (logIndex: number, tokenId: string, value: string) => ({
    from,
    to,
    logIndex,
    value,
    erc1155Token: { address: to.address, tokenId },
  })
  const nativeTransaction = {
    blockNumber: '5',
    blockTimestamp: 1_700_000_000,
    txHash: '0xaa',
    from,
    to,
    value: '0',
  }
  const erc1155Transfers = [entry(8, '5', '1'), entry(8, '6', '2'), entry(4, '5', '3')]
  const chains = { 7: [{ nativeTransaction, erc1155Transfers }] }
  const ask = openExplorer('blockscout', { explorerQuirks: ['before-9'], chains })
  expect(await recordsOf(ask, { chainid: 7, action: 'tokentx', address: to.address })).toMatchObject([
    { logIndex: '4', tokenIDs: ['5'], values: ['3'], tokenID: '5' },
    { logIndex: '8', tokenIDs: ['5', '6'], values: ['1', '2'] },
  ])
  const [transaction] = await recordsOf(ask, { chainid: 7, action: 'txlist', address: to.address })
  expect(transaction).not.toHaveProperty('methodId')
})
