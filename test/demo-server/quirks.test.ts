import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { QUIRKS, type Quirk, readQuirks } from '../../src/demo-server/quirks.ts'
import { runCommand } from '../helpers/command.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { blockPath, fetchAll, fetchJson, fetchPages, type Item, walletPath, withToken } from './requests.ts'

const BUSIEST = '0xa548f4431ec271b95b8bdf86c85147c3bbbc5a4f'
const plain = createDataService()
const withQuirks = (...quirks: Quirk[]) => createDataService({ quirks })

test('names are read from lists, and unknown ones are refused with the known ones', () => {
  expect(readQuirks(['small-pages, fee-cap', 'offset-tokens'])).toEqual([
    'small-pages',
    'fee-cap',
    'offset-tokens',
  ])
  const known = Object.keys(QUIRKS).join(', ')
  expect(() => readQuirks(['fee-cap,none'])).toThrow(`there is no quirk "none": expected one of ${known}`)
})

test('serve names the quirks in its help, and refuses others', async () => {
  const { exit, stderr } = await runCommand(['serve', '--port', '0', '--quirk', 'fee-cap', '--quirk', 'none'])
  expect([exit, stderr]).toEqual([
    2,
    expect.stringContaining('there is no quirk "none": expected one of fee-cap,'),
  ])
  const help = await runCommand(['serve', '--help'])
  for (const name of Object.keys(QUIRKS)) expect(help.stdout.replace(/\s+/g, ' ')).toContain(`${name} (`)
})

type Call = { internalTxType: string; from: object; to: { address: string }; value: string }
type Traced = Item & { nativeTransaction: Record<string, unknown>; internalTransactions?: Call[] }

test('top-level-call: internal lists begin with the transaction itself, and keep their entries', async () => {
  const query = 'pageSize=100&startBlock=1&endBlock=60'
  const wallets = demoWallets.slice(0, 12)
  let seen = 0
  for (const wallet of wallets) {
    const listed = await fetchAll<Traced>(plain, walletPath(wallet, query))
    const traced = await fetchAll<Traced>(withQuirks('top-level-call'), walletPath(wallet, query))
    expect(traced).toHaveLength(listed.length)
    for (const [at, { internalTransactions: calls = [], nativeTransaction, ...rest }] of traced.entries()) {
      const { internalTransactions: entries = [], ...others } = listed[at] as Traced
      const { from, to, value, gasUsed, gasLimit, method } = nativeTransaction
      const isOwn = [from, to].some((party) => (party as Call['to']).address.toLowerCase() === wallet)
      expect({ nativeTransaction, ...rest }).toEqual(others)
      expect(entries.length === 0 ? [] : calls.slice(-entries.length)).toEqual(entries)
      const { callType } = method as { callType: string }
      if (!isOwn || callType === 'CONTRACT_CREATION') continue
      seen += 1
      expect(calls[0]).toMatchObject({ from, to, value, gasUsed, gasLimit, internalTxType: 'CALL' })
      if (callType === 'CONTRACT_CALL')
        expect(calls.slice(1, 4)).toMatchObject([
          { internalTxType: 'DELEGATECALL', value },
          { internalTxType: 'STATICCALL', value: '0' },
          { internalTxType: 'CALL', value: '0' },
        ])
    }
  }
  expect(seen).toBeGreaterThan(100)
})

test('zero-milliseconds: the field is never absent, and 0 where it was', async () => {
  const withoutMs = (listed: readonly Item[]) =>
    listed.map((item) => ({ blockTimestampMilliseconds: 0, ...item.nativeTransaction }))
  const query = 'pageSize=100&startBlock=190&endBlock=230'
  const listed = await fetchAll(plain, walletPath(BUSIEST, query))
  const received = await fetchAll(withQuirks('zero-milliseconds'), walletPath(BUSIEST, query))
  expect(received.map(({ nativeTransaction }) => nativeTransaction)).toEqual(withoutMs(listed))
  const zeros = withoutMs(listed).filter((native) => native.blockTimestampMilliseconds === 0)
  expect([zeros.length > 0, zeros.length < listed.length]).toEqual([true, true])
})

test.for(['asc', 'desc'])('offset-tokens: tokens count the items before the page, %s', async (sortOrder) => {
  let head = 100
  const service = createDataService({ quirks: ['offset-tokens'], head: () => head })
  const path = walletPath(BUSIEST, `sortOrder=${sortOrder}&pageSize=10`)
  const hashes = (items: readonly Item[]) => items.map(({ nativeTransaction }) => nativeTransaction.txHash)
  const all = await fetchAll(service, path)
  expect(hashes(all)).toEqual(hashes(await fetchAll(createDataService({ head: () => head }), path)))
  expect((await fetchJson(service, path)).body.nextPageToken).toBe('10')
  const second = hashes(all).slice(10, 20)
  expect(hashes((await fetchJson(service, withToken(path, '10'))).body.transactions)).toEqual(second)
  head += 1
  const shifted = hashes((await fetchJson(service, withToken(path, '10'))).body.transactions)
  expect(shifted.join() === second.join()).toBe(sortOrder === 'asc')
  expect((await fetchJson(service, withToken(path, 'x'))).status).toBe(400)
})

test('small-pages: large pages are refused, and pages are smaller than requested', async () => {
  const service = withQuirks('small-pages')
  const paths = [
    walletPath(BUSIEST, 'sortOrder=asc'),
    walletPath(BUSIEST, 'sortOrder=desc'),
    blockPath(3, 'pageSize='),
    `/v1/chains/43114/addresses/${BUSIEST}/balances:listErc1155?`,
  ]
  for (const [at, path] of paths.entries()) {
    const sized = (size: number) =>
      path.endsWith('pageSize=') ? `${path}${size}` : `${path}&pageSize=${size}`.replace('?&', '?')
    expect((await fetchJson(service, sized(41))).status).toBe(at === 1 ? 504 : 413)
    expect((await fetchJson(service, sized(40))).status).toBe(200)
  }
  const pages = await fetchPages(service, walletPath(BUSIEST, 'pageSize=40'))
  expect(pages.slice(0, -1).every((page) => page.length === 20)).toBe(true)
  expect(pages.flat()).toEqual(await fetchAll(plain, walletPath(BUSIEST, 'pageSize=100')))
})
