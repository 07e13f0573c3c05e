// Balances, the report and accounting files of a large ledger: rows per second and peak memory of whole processes.
// Usage: npm run bench -- books [transactions, default 200000] [csv|parquet] [balances, statement, report, xlsx or a
// format, default all]. xlsx is the generic format as a workbook, for up to 150,000 rows.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FORMAT_NAMES } from '../../dist/accounting/formats.js'
import { runMeasured } from './run-measured.js'
import { withLedger } from './with-service.js'

export function benchAccounting(transactions = 200_000, format = 'csv', filter = undefined) {
  const options = { transactions: Number(transactions), format, tables: ['ledger', 'transactions'] }
  return withLedger(options, ({ folder, output }) => {
    const { rows } = JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8')).tables.ledger
    const measured = (name, args) => {
      const { seconds, cpuSeconds, peakMB } = runMeasured(args)
      const [perSecond, perCpuSecond] = [seconds, cpuSeconds].map((time) => Math.round(rows / time))
      return {
        what: name,
        rows,
        seconds,
        cpuSeconds,
        'rows per second': perSecond,
        'rows per CPU second': perCpuSecond,
        peakMB,
      }
    }
    const balances = () => measured('balances', ['balances', output, '--format', 'csv'])
    const period = ['--from', '2000-01-01', '--until', '2999-12-31']
    const statement = () => measured('statement', ['statement', output, ...period, '--format', 'csv'])
    const xlsx = () =>
      measured('xlsx', [
        'convert',
        output,
        '--to',
        'generic',
        '--format',
        'xlsx',
        '--out',
        join(folder, 'generic.xlsx'),
      ])
    const report = () => measured('report', ['report', output, '--out', join(folder, 'report.html')])
    const convert = (to) => {
      const prices = to === 'rp2' ? ['--prices', writePrices({ folder, output })] : []
      return measured(to, ['convert', output, '--to', to, '--out', join(folder, to), ...prices])
    }
    const workbook = rows <= 150_000 ? ['xlsx'] : []
    const selected = ['balances', 'statement', 'report', ...workbook, ...FORMAT_NAMES].filter(
      (name) => filter === undefined || name === filter,
    )
    const runners = { balances, statement, report, xlsx }
    console.table(selected.map((name) => (runners[name] ?? (() => convert(name)))()))
  })
}

/** Writes a price file in which every asset costs one dollar, because `--to rp2` requires prices. */
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
