import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '../../src/export/run.ts'
import { service } from '../helpers/faulty-run.ts'
import { testJob } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/** Number of repetitions with a new output. */
const TURNS = 6

test('if runs start concurrently on a new output, the refused ones do not affect the other', async () => {
  const { url } = await startLoopback(service)
  const endpoint = { baseUrl: url }
  for (let turn = 0; turn < TURNS; turn += 1) {
    const output = join(tempFolder(), 'out')
    const job = testJob({
      addresses: demoWallets.slice(-1),
      output,
      service: endpoint,
      endBlock: undefined,
      tables: ['transactions'],
    })
    const codes = (await Promise.all([0, 1, 2].map(() => run([job])))).map(({ code }) => code)
    expect(codes.filter((code) => code !== 'OUTPUT_LOCKED')).toEqual([undefined])
    expect(existsSync(join(output, '.walletlake', 'pages.log'))).toBe(true)
  }
})
