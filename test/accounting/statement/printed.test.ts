// @module-tag long

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { statement } from '../../../src/accounting/statement/statement.ts'
import { statementSheets } from '../../../src/accounting/statement/statement-rows.ts'
import { xlsxBytes } from '../../../src/core/platform/xlsx.ts'
import { isMissing } from '../../helpers/programs.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { pagesByLibreOffice } from '../../helpers/xlsx.ts'
import { exportMadeUp } from '../made-up-export.ts'
import { ANN, address, BEN, createChain } from '../made-up-transactions.ts'

const output = join(suiteFolder(), 'out')
const { transaction, erc20 } = createChain()

/** A transaction in which a wallet receives this many tokens. */
function receive(wallet: string, count: number) {
  const parties = [address('3'), wallet] as const
  const tokens = Array.from({ length: count }, (_, at) => ({
    address: `0x${String(at).padStart(40, 'e')}`,
    name: `Token ${at}`,
    symbol: `T${at}`,
    decimals: 18,
  }))
  return transaction(
    { at: '2024-03-01T00:00:00Z', parties },
    { erc20: tokens.map((token) => erc20(token, parties, 12_345n * 10n ** 17n)) },
  )
}

test.skipIf(isMissing('LibreOffice Calc'))(
  'LibreOffice prints the summary on a page per wallet and 60 assets',
  async () => {
    await exportMadeUp(output, [receive(ANN, 61), receive(BEN, 60)])
    const [summary, ...others] = statementSheets(await statement([output], { year: '2024' }), [])
    expect(summary?.rows).toHaveLength(121)
    const pages = pagesByLibreOffice(await xlsxBytes(summary === undefined ? [] : [summary]))
    expect(pages).toBeGreaterThan(1)
    expect(pages).toBeLessThanOrEqual(3)
    expect(pagesByLibreOffice(await xlsxBytes(others))).toBeGreaterThan(3)
  },
)
