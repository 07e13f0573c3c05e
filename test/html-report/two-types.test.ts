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
  const moved = tableOf(page, 'Movements by asset').filter(([, kind]) => kind?.startsWith('NFT'))
  expect(moved.map((cells) => cells.slice(1, 4))).toEqual([
    ['NFT, ERC-721', '4', '4'],
    ['NFT, ERC-1155', '2', '5'],
  ])
  expect(tableOf(page, 'Collections').map((cells) => cells.slice(4))).toEqual([
    ['4', '#7 #8 #9 #10'],
    ['1', '#11579…9935 × 3'],
  ])
})
