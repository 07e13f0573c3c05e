import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { checkFile } from '../../src/accounting/check/check-file.ts'
import { convert } from '../../src/accounting/convert.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { GOLDEN_CHAIN } from './golden-chain.ts'
import { exportMadeUp } from './made-up-export.ts'

const folder = suiteFolder()
const output = join(folder, 'out')
const at = (name: string) => join(folder, name)

beforeAll(() => exportMadeUp(output, GOLDEN_CHAIN))

test('returns the time range of the ledger for a period outside of it, and leaves no empty folder', async () => {
  const early = { to: 'koinly', perWallet: true, out: at('none/wallets'), until: '2020-12-31' }
  const { movements, ledgerTimeRange } = await convert(output, early)
  expect([movements, existsSync(at('none'))]).toEqual([0, false])
  expect(ledgerTimeRange?.first).toBe('2023-12-31T23:59:58.000Z')
  expect((ledgerTimeRange?.last ?? '') > (ledgerTimeRange?.first ?? '')).toBe(true)
  expect((await convert(output, { to: 'koinly', out: at('all.csv') })).ledgerTimeRange).toBeUndefined()
})

test.for(['koinly', 'generic', 'hledger', 'ledger', 'beancount'])(
  'checkFile counts the same number of lines as convert for %s',
  async (to) => {
    const { lines } = await convert(output, { to, out: at(`counted-${to}`) })
    expect(lines).toBeGreaterThan(5)
    expect(await checkFile(at(`counted-${to}`), to, () => {})).toBe(lines)
  },
)
