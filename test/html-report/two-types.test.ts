import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { report } from '../../src/html-report/report.ts'
import { GOLDEN_CHAIN } from '../accounting/golden-chain.ts'
import { exportMadeUp } from '../accounting/made-up-export.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { tableOf } from './read-page.ts'

test('a contract with tokens of two types has one row per type', async () => {
  const output = join(tempFolder(), 'made-up')
  await exportMadeUp(output, GOLDEN_CHAIN)
  const page = readFileSync((await report([output])).file, 'utf8')
  expect(tableOf(page, 'NFTs').map((cells) => cells.slice(1))).toEqual([
    ['4', '0', '4', '#7 #8 #9 #10'],
    ['1', '1', '1', '#115792089237316195423570985008687907853269984665640564039457584007913129639935 × 3'],
  ])
})
