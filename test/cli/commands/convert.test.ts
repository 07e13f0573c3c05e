import { expect, test } from 'vitest'
import { runCommand } from '../../helpers/command.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

test.for([
  { to: 'koinly', endings: '.csv' },
  { to: 'generic', endings: '.csv or .xlsx' },
  { to: 'hledger', endings: '.journal or .hledger' },
])('for a file of another format, convert --to $to names $endings', async ({ to, endings }) => {
  const { exit, stderr } = await runCommand(['convert', tempFolder(), '--to', to, '--out', 'x.ods'])
  expect(exit).toBe(2)
  expect(stderr).toContain(`fix: Name a file that ends in ${endings}.\n`)
})
