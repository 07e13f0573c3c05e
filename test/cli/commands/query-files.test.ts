import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { GOLDEN_CHAIN } from '../../accounting/golden-chain.ts'
import { exportMadeUp } from '../../accounting/made-up-export.ts'
import { ANN, BEN } from '../../accounting/made-up-transactions.ts'
import { runCommand } from '../../helpers/command.ts'
import { suiteFolder, tempFile, tempFolder } from '../../helpers/temp-folder.ts'

const output = join(suiteFolder(), 'out')
beforeAll(() => exportMadeUp(output, [...GOLDEN_CHAIN]))

const query = (sql: string, ...options: string[]) =>
  runCommand(['query', output, sql, '--format', 'csv', ...options])

function fileOf(name: string, text: string): string {
  return tempFile(name, text)
}

test('joins a CSV file of the user as a table', async () => {
  const users = fileOf('users.csv', `wallet_address,team,share\n${ANN},north,0.30\n${BEN},south,12\n`)
  const sql =
    'select team, share, count(*) > 0 as moved from ledger join users using (wallet_address) group by all order by team'
  const { exit, stdout } = await query(sql, '--with', `users=${users}`)
  expect([exit, stdout]).toEqual([0, 'team,share,moved\nnorth,0.30,true\nsouth,12,true\n'])
  const refused = await query('delete from users', '--with', `users=${users}`)
  expect(refused).toMatchObject({ exit: 2, stderr: expect.stringContaining('not read-only') })
})

test.for([
  ['users', 'expected a name and a file'],
  ['ledger=users.csv', 'the name ledger is taken'],
  ['users=missing.csv', 'cannot read missing.csv: there is no such file'],
])('--with %s is refused', async ([given = '', message]) => {
  const { exit, stderr } = await query('select 1', '--with', given)
  expect(exit).toBe(2)
  expect(stderr).toContain(message)
})

test.for(['', '\ufeff', '\r\n'])('--with refuses a file without a header: %j', async (text) => {
  const empty = fileOf('empty.csv', text)
  const { exit, stderr } = await query('select 1', '--with', `users=${empty}`)
  expect(exit).toBe(2)
  expect(stderr).toContain(`cannot read ${empty}: it is empty`)
})

test('draws bars, or lines by time, beside the result', async () => {
  const chart = join(tempFolder(), 'chart.html')
  const byDay = 'select block_timestamp::date as day, count(*) as rows from ledger group by 1 order by 1'
  const { exit, stdout, stderr } = await query(byDay, '--chart', chart)
  expect([exit, stdout.split('\n')[0]]).toEqual([0, 'day,rows'])
  expect(stderr).toContain(`chart: ${chart}`)
  const lines = readFileSync(chart, 'utf8')
  expect(lines).toContain('<path class="line q0" d="M')
  expect(lines).toContain('<td>2024-02-29</td>')
  const bySymbol =
    "select '<b>' || asset_symbol as symbol, sum(value) as n from ledger where asset_decimals = 6 group by 1"
  expect(await query(bySymbol, '--chart', chart)).toMatchObject({ exit: 0 })
  const bars = readFileSync(chart, 'utf8')
  expect(bars).toContain('<rect class="q0"')
  expect(bars).not.toContain('<b>')
})

test('a result without numbers is no chart', async () => {
  const chart = join(tempFolder(), 'chart.html')
  const { exit, stderr } = await query('select asset_symbol from ledger', '--chart', chart)
  expect(exit).toBe(2)
  expect(stderr).toContain('a chart needs 1 to 6 columns of numbers after the first column')
})
