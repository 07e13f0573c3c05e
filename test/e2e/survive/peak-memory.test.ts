// @module-tag long

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import { runCommand } from '../../helpers/command.ts'
import { faultWhere, respondWith } from '../../helpers/faults.ts'
import { startLoopback } from '../../helpers/loopback.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

/** Prints the peak resident set size of a process, including threads, when it exits. */
const REPORT = `import { isMainThread } from 'node:worker_threads'
if (isMainThread) process.on('exit', () => process.stderr.write('PEAK_KB ' + process.resourceUsage().maxRSS))`

const address = (number: number) => `0x${String(number).padStart(40, '0')}`

/** A transaction with a name of the given size in bytes. */
function transaction(block: number, nameBytes: number) {
  return {
    nativeTransaction: {
      blockNumber: String(block),
      blockIndex: 0,
      blockTimestamp: 1_700_000_000 + block,
      blockHash: `0x${'b'.repeat(64)}`,
      txHash: `0x${String(block).padStart(64, '0')}`,
      txStatus: '1',
      txType: 0,
      gasLimit: '21000',
      gasUsed: '21000',
      gasPrice: '1',
      nonce: '1',
      value: '1',
      from: { address: address(1), name: 'é'.repeat(nameBytes / 2) },
      to: { address: address(2) },
    },
  }
}

const manyBytes = () =>
  JSON.stringify({ transactions: Array.from({ length: 10 }, (_, at) => transaction(at, 3_000_000)) })

const INPUTS = [
  {
    what: 'pages of 30 MB for 16 readers',
    exit: 9,
    answer: () => respondWith(200, manyBytes()),
  },
  {
    what: 'responses that decompress to 250 MB',
    exit: 5,
    answer: () => respondWith(200, gzipSync(' '.repeat(250_000_000)), { 'content-encoding': 'gzip' }),
  },
]

test.for(INPUTS)('$what need less than 700 MB', async ({ exit, answer }) => {
  const folder = tempFolder()
  const hostile = faultWhere(() => true, answer())
  const { url } = await startLoopback(createDataService(), hostile)
  const job = join(folder, 'job.json')
  const addresses = Array.from({ length: 16 }, (_, at) => address(1_000 + at))
  const fields = { chain: '43114', addresses, endBlock: 3_000, concurrency: 16, output: join(folder, 'out') }
  writeFileSync(job, JSON.stringify({ ...fields, service: { baseUrl: url, timeout: '120s' } }))
  const ended = await runCommand(['run', job, '--max-requests', exit === 9 ? '15' : '1000'], {
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(REPORT)}`,
  })
  expect(ended.exit, ended.stderr).toBe(exit)
  const [, peakKB] = /PEAK_KB (\d+)/.exec(ended.stderr) ?? []
  expect(Number(peakKB)).toBeGreaterThan(0)
  expect(Number(peakKB) / 1_000).toBeLessThan(700)
})
