import { expect, test } from 'vitest'
import { readExplorerQuirks } from '../../../src/demo-server/explorer/quirks.ts'
import { BUSIEST, openExplorer, recordsOf } from './requests.ts'

test('reads the quirks of an API and refuses those of others', () => {
  expect(readExplorerQuirks(['free-plan'], 'etherscan')).toEqual(['free-plan'])
  expect(() => readExplorerQuirks(['free-plan'], 'blockscout')).toThrow(
    'the API blockscout has no quirk "free-plan": expected one of late-internals',
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
