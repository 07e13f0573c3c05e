// What becomes of a large ledger: balances, and files for accounting programs; whole processes, their peak memory and rows a
// second. Usage: npm run bench -- books [transactions, default 200000] [csv|parquet] [balances, report or a format, default all]
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FORMAT_NAMES } from '../../dist/accounting/writers.js'
import { runMeasured } from './run-measured.js'
import { withLedger } from './with-service.js'

export function benchAccounting(transactions = 200_000, format = 'csv', filter = undefined) {
  const options = { transactions: Number(transactions), format, tables: ['ledger', 'transactions'] }
  return withLedger(options, ({ folder, output }) => {
    const { rows } = JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8')).tables.ledger
    const measured = (name, args) => {
      const { seconds, cpuSeconds, peakMB } = runMeasured(args)
      const [aSecond, aCpuSecond] = [seconds, cpuSeconds].map((time) => Math.round(rows / time))
      return {
        what: name,
        rows,
        seconds,
        cpuSeconds,
        'rows a second': aSecond,
        'a CPU second': aCpuSecond,
        peakMB,
      }
    }
    const balances = () => measured('balances', ['balances', output, '--format', 'csv'])
    const reported = () => measured('report', ['report', output, '--out', join(folder, 'report.html')])
    const converted = (to) => {
      const prices = to === 'rp2' ? ['--prices', writePrices({ folder, output })] : []
      return measured(to, ['convert', output, '--to', to, '--out', join(folder, to), ...prices])
    }
    const selected = ['balances', 'report', ...FORMAT_NAMES].filter(
      (name) => filter === undefined || name === filter,
    )
    const runners = { balances, report: reported }
    console.table(selected.map((name) => (runners[name] ?? (() => converted(name)))()))
  })
}

/** A file of prices in which everything is worth one dollar: rp2 takes nothing without a price. */
function writePrices({ folder, output }) {
  const path = join(folder, 'prices.csv')
  runMeasured(['convert', output, '--prices-needed', '--out', path])
  const [head, ...lines] = readFileSync(path, 'utf8').trimEnd().split('\n')
  const columns = head.split(',')
  const filled = lines.map((line) => {
    const cells = line.split(',')
    cells[columns.indexOf('currency')] = 'USD'
    cells[columns.indexOf('price')] = '1'
    return cells.join(',')
  })
  writeFileSync(path, `${[head, ...filled].join('\n')}\n`)
  return path
}
