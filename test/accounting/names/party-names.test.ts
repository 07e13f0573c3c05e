import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { beforeAll, expect, test } from 'vitest'
import { convert } from '../../../src/accounting/convert.ts'
import { nameParties } from '../../../src/accounting/transactions.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { GOLDEN_CHAIN, WALLETS } from '../golden-chain.ts'
import { COIN, movement } from '../made-up.ts'
import { exportMadeUp } from '../made-up-export.ts'

const FRIEND = `0x${'3'.repeat(40)}`
const [folder, BEN] = [suiteFolder(), WALLETS[1]?.address]
const output = join(folder, 'export')
const names = join(folder, 'names.csv')

beforeAll(async () => {
  writeFileSync(names, `address,name\n${FRIEND},"=cmd|' /C calc'!A0, ""Bob"""\n${BEN},Other name\n`)
  await exportMadeUp(output, GOLDEN_CHAIN)
})

async function converted(to: string): Promise<string> {
  const out = join(folder, to)
  await convert(output, { to, out, names })
  return readFileSync(out, 'utf8')
}

test('descriptions name counterparties beside their address, without formulas and quotes', async () => {
  const rows: Record<string, string>[] = parse(await converted('koinly'), { columns: true })
  const notes = rows.map(({ Description }) => Description ?? '')
  expect(notes).toContainEqual(expect.stringContaining(`from cmd /C calc!A0, Bob (${FRIEND})`))
  // The label of the job takes precedence over the name in the file.
  expect(notes).toContainEqual(expect.stringContaining(`between own wallets / to Büro 2 (${BEN})`))
  expect(notes.join()).not.toContain('Other name')
})

test('journals name the payee, unless it is a wallet of the job', async () => {
  const hledger = await converted('hledger')
  expect(hledger).toMatch(/^2023-12-31 \(0x\w+\) cmd \/C calc!A0, Bob \| transfer {2};/m)
  expect(hledger).not.toMatch(/\) Büro/)
  expect(await converted('beancount')).toMatch(/^2023-12-31 \* "cmd \/C calc!A0, Bob" "transfer" \^0x/m)
})

test('a wallet without a label gets its name, and one with a label keeps it', () => {
  const unlabelled = movement({ asset: COIN, value: 1n, label: null })
  const labelled = movement({ asset: COIN, value: 1n, label: 'Savings' })
  nameParties([unlabelled, labelled], new Map([[unlabelled.wallet, 'Till']]))
  expect([unlabelled.label, labelled.label]).toEqual(['Till', 'Savings'])
})
