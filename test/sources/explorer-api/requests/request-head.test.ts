import { expect, test } from 'vitest'
import { ETHERSCAN } from '../../../../src/sources/explorer-api/dialect.ts'
import { requestLastBlockBefore } from '../../../../src/sources/explorer-api/requests.ts'
import { fakeExplorer } from '../fake-explorer.ts'

const query = { dialect: ETHERSCAN, chain: '1', timeMs: 1_451_606_400_000 }

test('an answer that is no block number is not requested again: the explorer does not offer it', async () => {
  const body = { status: '1', message: 'OK', result: [] }
  const { requestContext, received } = fakeExplorer({}, { override: () => ({ body }) })
  await expect(requestLastBlockBefore(requestContext, query)).rejects.toMatchObject({
    code: 'PAGE_MALFORMED',
  })
  expect(received).toHaveLength(1)
})

test('an answer that is cut off is requested again', async () => {
  const cut = (_: unknown, request: number) => ({
    body: request === 1 ? '{"status":"1","mess' : { status: '1', message: 'OK', result: '778482' },
  })
  const { requestContext, received } = fakeExplorer({}, { override: cut })
  expect(await requestLastBlockBefore(requestContext, query)).toBe(778_482)
  expect(received).toHaveLength(2)
})
