// @module-tag long

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { run } from '../../src/export/run.ts'
import { report } from '../../src/html-report/report.ts'
import { testJob } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { CHROMIUM, isMissing } from '../helpers/programs.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const WALLET = `0x${'1'.repeat(40)}`
const TRANSACTIONS = 50_000

/** A payment of the wallet, which has two rows in the ledger: the amount and the fee. */
function paymentAt(block: number) {
  const hash = `0x${block.toString(16).padStart(64, '0')}`
  const nativeTransaction = {
    blockNumber: String(block),
    blockTimestamp: 1_600_000_000 + block * 600,
    blockHash: hash,
    chainId: '1',
    blockIndex: 0,
    txHash: hash,
    txStatus: '1',
    txType: 0,
    gasLimit: '21000',
    gasUsed: '21000',
    gasPrice: '1000000000',
    nonce: String(block),
    from: { address: WALLET },
    to: { address: `0x${(block % 500).toString(16).padStart(40, '2')}` },
    method: { callType: 'NATIVE_TRANSFER', methodHash: '', methodName: 'Native Transfer' },
    value: String(block + 1),
  }
  return { nativeTransaction }
}

test.skipIf(isMissing('Chromium'))('a report of 100,000 rows has at most 3,000 nodes', async () => {
  const items = Array.from({ length: TRANSACTIONS }, (_, block) => paymentAt(block))
  const { url } = await startLoopback(createDataService({ chains: { 1: items } }))
  const output = join(tempFolder(), 'out')
  const range = { chain: '1', startBlock: 0, endBlock: TRANSACTIONS, nativeSymbol: 'ETH' }
  const job = testJob({ addresses: [WALLET], ...range, output, service: { baseUrl: url } })
  expect((await run([job])).code).toBeUndefined()
  const { file, rows } = await report([output])
  expect(rows).toBe(2 * TRANSACTIONS)
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    const page = await browser.newPage()
    await page.goto(pathToFileURL(file).href)
    await page.locator('.event').first().waitFor()
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(3_000)
    expect(await page.locator('#activity output').textContent()).toMatch(/of 50,000 transactions$/)
  } finally {
    await browser.close()
  }
})
