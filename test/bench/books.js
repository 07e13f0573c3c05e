// What becomes of a large ledger: balances, and files for accounting programs; whole processes, their peak memory and rows a
// second. Usage: npm run bench -- books [transactions, default 200000] [csv|parquet] [balances, report or a format, default all]
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runMeasured } from './run-measured.js'
import { withLedger } from './with-service.js'

const PRESETS = ['cointracking', 'koinly', 'rotki', 'bittytax', 'hledger', 'ledger', 'beancount']

export function benchBooks(transactions = 200_000, format = 'csv', only = undefined) {
  return withLedger({ transactions: Number(transactions), format }, ({ folder, output }) => {
    const { rows } = JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8')).tables.ledger
    const measured = (what, args) => {
      const { seconds, cpuSeconds, peakMB } = runMeasured(args)
      return { what, rows, seconds, cpuSeconds, rowsASecond: Math.round(rows / seconds), peakMB }
    }
    const balances = () => measured('balances', ['balances', output, '--format', 'csv'])
    const converted = (to) => measured(to, ['convert', output, '--to', to, '--out', join(folder, to)])
    const reported = () => measured('report', ['report', output, '--out', join(folder, 'report.html')])
    const asked = ['balances', 'report', ...PRESETS].filter((what) => only === undefined || what === only)
    const made = { balances, report: reported }
    console.table(asked.map((what) => (made[what] ?? (() => converted(what)))()))
  })
}
