import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { run } from '../../src/export/run.ts'
import { fetchJson } from '../demo-server/requests.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { testJob } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { demoWallets, nodeData } from '../helpers/node-data.ts'
import { readCsvTable, readManifest, type TextRow } from '../helpers/read-output.ts'
import { suiteFolder, tempFolder } from '../helpers/temp-folder.ts'

const folder = suiteFolder()
let ledger: TextRow[] = []
let owners: TextRow[] = []

beforeAll(async () => {
  await exportDemo(folder)
  ledger = await readCsvTable(folder, 'ledger')
  owners = await readCsvTable(folder, 'erc721_transfers')
})

/** Genesis balance of each account of the demo chain, in wei. */
const GENESIS = 10_000n * 10n ** 18n
const SWEEPS_TO_ZERO = '0x45595caf924fe42f22ee0c09a958253d7095ec98'

/** Sums a wallet's ledger rows of one asset up to and including a block. */
type Sum = Map<string, bigint>

function sumUpTo(rows: readonly TextRow[], block: number): Sum {
  const sums: Sum = new Map()
  for (const row of rows) {
    if (Number(row.block_number) > block) break
    const key = [row.wallet_address, row.asset_address, row.token_id].join('|')
    sums.set(key, (sums.get(key) ?? 0n) + BigInt(row.value ?? ''))
  }
  return sums
}

function expectEveryNativeBalance(ledger: readonly TextRow[]): void {
  const native = ledger.filter((row) => row.asset_type === 'native')
  const rowsOf = (address: string) => native.filter((row) => row.wallet_address === address.toLowerCase())
  let checks = 0
  for (const [address, balances] of Object.entries(nodeData.nativeByBlock)) {
    const rows = rowsOf(address)
    let balance = BigInt(balances[0]?.[1] ?? '')
    let at = 0
    const known = new Map(balances)
    let expected = balance
    for (let block = 0; block <= nodeData.lastBlock; block += 1) {
      for (; at < rows.length && Number(rows[at]?.block_number) === block; at += 1)
        balance += BigInt(rows[at]?.value ?? '')
      expected = known.has(block) ? BigInt(known.get(block) ?? '') : expected
      if (balance !== expected)
        expect({ address, block, balance }).toEqual({ address, block, balance: expected })
      checks += 1
    }
    expect(at).toBe(rows.length)
  }
  expect(checks).toBe(53 * 421)
}

const ZERO = '0x0000000000000000000000000000000000000000'

describe('the ledger of the whole demo chain', () => {
  test('equals the native balance to the wei at every block', () => expectEveryNativeBalance(ledger))

  test('equals it also if the listing shows fee caps instead of the prices that were paid', {
    tags: ['long'],
  }, async () => {
    const { url } = await startLoopback(createDataService({ quirks: ['fee-cap'] }))
    const service = { baseUrl: url }
    const job = testJob({ addresses: demoWallets, output: tempFolder(), feesBudget: 5_000, service })
    expect((await run([job])).code).toBeUndefined()
    expect(readManifest(job.output).feesUpperBound).toBeUndefined()
    expectEveryNativeBalance(await readCsvTable(job.output, 'ledger'))
  })

  test('sums to the balance of every account minus the 10,000 AVAX of genesis', () => {
    const sums = sumUpTo(ledger, nodeData.lastBlock)
    const began = Object.values(nodeData.nativeByBlock).map(([first]) => first?.[1])
    expect(began.filter((wei) => wei === `${GENESIS}`)).toHaveLength(50)
    expect(began.filter((wei) => wei === '0')).toHaveLength(3)
    expect(sums.get(`${SWEEPS_TO_ZERO}||`)).toBe(-GENESIS)
  })

  test('is explained in the pages about the chain', async () => {
    const welcome = await fetchJson(createDataService(), '/')
    for (const text of [readFileSync('src/demo-server/README.md', 'utf8'), JSON.stringify(welcome.body)])
      expect(text.replaceAll(/\s+(# )?/g, ' ')).toMatch(/10,000 AVAX.*genesis.*no transaction/i)
  })

  test('equals every ERC-20 balance at every checkpoint', () => {
    const rows = ledger.filter((row) => row.asset_type === 'erc20')
    let checks = 0
    for (const [token, { reconcilable, checkpoints }] of Object.entries(nodeData.erc20)) {
      if (!reconcilable) continue
      for (const [block, balances] of Object.entries(checkpoints)) {
        const sums = sumUpTo(rows, Number(block))
        for (const wallet of Object.keys(nodeData.membership)) {
          const key = `${wallet}|${token}|`.toLowerCase()
          expect([key, block, sums.get(key) ?? 0n]).toEqual([key, block, BigInt(balances[wallet] ?? '0')])
          checks += 1
        }
      }
    }
    expect(checks).toBeGreaterThan(10_000)
  })

  test('equals every ERC-1155 balance at the last block', () => {
    const sums = sumUpTo(
      ledger.filter((row) => row.asset_type === 'erc1155'),
      nodeData.lastBlock,
    )
    const expected = new Map<string, bigint>()
    for (const [token, wallets] of Object.entries(nodeData.erc1155)) {
      for (const [wallet, ids] of Object.entries(wallets)) {
        for (const [id, balance] of Object.entries(ids))
          expected.set(`${wallet}|${token}|${id}`.toLowerCase(), BigInt(balance))
      }
    }
    const left = (all: Sum) => [...all].filter(([, balance]) => balance !== 0n).sort()
    expect(left(sums)).toEqual(left(expected))
    expect(expected.size).toBeGreaterThan(300)
  })

  test('gives the owner of every ERC-721 token', () => {
    const last = new Map(owners.map((row) => [`${row.token_address}|${row.token_id}`, row.to_address]))
    let checks = 0
    for (const [token, ids] of Object.entries(nodeData.erc721Owners)) {
      for (const [id, owner] of Object.entries(ids)) {
        const found = last.get(`${token.toLowerCase()}|${id}`)
        if (owner !== null && !demoWallets.includes(owner.toLowerCase())) continue
        expect([token, id, found]).toEqual([token, id, owner?.toLowerCase() ?? ZERO])
        checks += 1
      }
    }
    expect(checks).toBeGreaterThan(300)
  })
})
