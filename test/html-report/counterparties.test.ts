import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/demo-server/json.ts'
import { report } from '../../src/html-report/report.ts'
import { LOST_METADATA } from '../accounting/golden-chain.ts'
import { exportMadeUp } from '../accounting/made-up-export.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { tableOf } from './read-page.ts'

test('a report shows the name of a counterparty unchanged, even if a spreadsheet would take it for a formula', async () => {
  const output = join(suiteFolder(), 'named')
  const sender = `"address":"0x${'3'.repeat(40)}"`
  const named = JSON.stringify(LOST_METADATA).replaceAll(sender, `${sender},"name":"@friend"`)
  await exportMadeUp(output, JSON.parse(named) as JsonObject[])
  const page = readFileSync((await report([output])).file, 'utf8')
  const parties = tableOf(page, 'Counterparties').map(([name]) => name)
  expect(parties).toEqual(['@friend'])
})
