import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand } from '../../helpers/command.ts'
import { exportDemo } from '../../helpers/demo-export.ts'
import { demoWallets } from '../../helpers/node-data.ts'
import { tempFile, tempFolder } from '../../helpers/temp-folder.ts'

test('balances prints at most 1,000 differences from --expect, and counts all', async () => {
  const output = join(tempFolder(), 'out')
  const [wallet = ''] = demoWallets
  await exportDemo(output, { addresses: [wallet], endBlock: 5 })
  const token = (number: number) => `0x${String(number).padStart(40, '0')}`
  const lines = Array.from({ length: 1_002 }, (_, number) => `${wallet},erc20,${token(number)},,1`)
  const path = tempFile(
    'many.csv',
    ['wallet_address,asset_type,asset_address,token_id,value', ...lines].join('\n'),
  )
  const { exit, stderr } = await runCommand(['balances', output, '--expect', path])
  expect(exit).toBe(10)
  expect(stderr.match(/many\.csv:\d+:/g)).toHaveLength(1_000)
  expect(stderr).toContain('and 2 more differences')
  expect(stderr).toContain('1,002 balances of 1002 differ')
})
