import { stat } from 'node:fs/promises'
import { type FetchedPrices, fetchPrices } from '../../accounting/price-list/fetch-prices.ts'
import { priceFileText } from '../../accounting/price-list/price-lines.ts'
import { TIERS } from '../../core/model/compute-units.ts'
import { optionError } from '../../core/model/option-error.ts'
import { formatCount } from '../../terminal/format.ts'
import type { Log } from '../../terminal/log.ts'
import { defineCommand, defineOptions, type OptionValues } from '../command.ts'
import { chooseFormat, fileOf } from '../options/file-format.ts'
import { logOptions, throttledProgress, withSignals } from '../options/log.ts'
import { openingOptions } from '../options/opening-option.ts'
import { readRunLimits, runLimitOptions } from '../options/option-parsers.ts'
import { OUTPUT_OR_JOB, openOutput } from '../options/output-argument.ts'
import { periodOptions, resolveYear } from '../options/period-options.ts'
import { readAccessOfOutput, serviceOptions } from '../options/service.ts'
import { openResultFile } from '../result-file.ts'
import { STARTS_OVER } from '../signals.ts'
import { warnIfIncomplete } from '../warn-incomplete.ts'

const options = defineOptions([
  { name: 'currency', value: '<code>', default: 'usd', description: 'Currency of the prices' },
  {
    name: 'out',
    value: '<file>',
    description: 'Price file, completed if it exists (default: stdout)',
  },
  ...periodOptions,
  {
    name: 'assume-pegs',
    description: 'Price stablecoins at 1 of their currency, and wrapped coins as the coin',
  },
  { name: 'exclude-spam', description: 'Leave out the spam tokens that `balances --flags` lists' },
  {
    name: 'tickers',
    value: '<file>',
    description: 'CSV file of tickers (chain,contract,ticker) for tokens that are no spam',
  },
  ...openingOptions,
  ...serviceOptions,
  { name: 'tier', value: '<name>', choices: TIERS, description: 'Tier of the API key' },
  ...runLimitOptions,
  ...logOptions,
])
type PriceArguments = Omit<OptionValues<typeof options>, 'year'>

export const command = defineCommand({
  name: 'prices',
  summary: 'Request the prices of the coin for --prices',
  description:
    'Write a price file for convert, statement and report: the price of the native coin on each day with a movement, from the details of one transaction of that day, and lines to fill in for other assets and days. They include what is held on the day before --year or --from, and on the last day. Prices that the file already has are kept.',
  arguments: [{ name: 'output', required: true, description: OUTPUT_OR_JOB }],
  options,
  examples: [
    ['prices output/mine --out prices.csv', 'All days with a movement; run it again to continue'],
    ['prices output/mine --year 2024 --out prices.csv', 'What `statement --year 2024` needs'],
    ['prices output/mine --assume-pegs --out prices.csv', 'Also stablecoins and wrapped coins'],
  ],
  run: ({ output, ...args }) => writePrices(output, resolveYear(args)),
})

async function writePrices(outputArg: string, args: PriceArguments): Promise<void> {
  const { from, until, assumePegs, excludeSpam = false, tickers, opening } = args
  const out = fileOf(args.out)
  chooseFormat(out, { formats: ['csv'], fallback: 'csv' })
  const currency = readCurrency(args.currency)
  const limits = readRunLimits(args)
  const located = await openOutput(outputArg, ['ledger', 'transactions'])
  const { output } = located
  const file = await openResultFile({
    out,
    isBinary: false,
    protectedPaths: {
      inputs: { '--tickers': tickers, '--opening': opening || undefined },
      exports: [output],
    },
  })
  const interruption = out === undefined ? STARTS_OVER : { outcome: 'received prices are kept' }
  await withSignals({ ...args, interruption }, async ({ log, signal }) => {
    const access = await readAccessOfOutput(located, {
      args,
      operation: 'transaction',
      isDataApiOnly: true,
      onNotice: log.info,
    })
    const tier = args.tier ?? access.tier
    const progress = throttledProgress(log)
    const fetched = await fetchPrices(output, {
      currency,
      from,
      until,
      assumePegs,
      excludeSpam,
      tickers,
      opening,
      prices: (await isFile(out)) ? out : undefined,
      service: { ...access, tier, ...limits, signal, onDetail: log.debug, onNotice: log.info },
      onStart: ({ requests, computeUnits }) =>
        log.info(`requesting the prices of ${costText(requests, 'day', computeUnits)}`),
      onProgress: (days) => progress(`${formatCount(days, 'day')} done`),
    })
    await file.write(priceFileText(fetched.lines))
    await file.close()
    reportPrices(fetched, log, out)
    if (fetched.error !== undefined) throw fetched.error
    await warnIfIncomplete(output)
  })
}

function readCurrency(text: string): string {
  if (/^[A-Za-z]{2,10}$/.test(text)) return text.toUpperCase()
  throw optionError('currency', { found: text, expected: 'a code such as usd' })
}

const isFile = async (path: string | undefined) =>
  path !== undefined && (await stat(path).catch(() => undefined)) !== undefined

const costText = (count: number, unit: string, computeUnits: number) =>
  `${formatCount(count, unit)} (${formatCount(computeUnits, 'compute unit')})`

/** Reports on stderr what was requested, and what has no price. */
function reportPrices(
  { added, missing, counts, error }: FetchedPrices,
  log: Log,
  out: string | undefined,
): void {
  const target = out === undefined ? '' : ` in ${out}`
  log.info(
    `${formatCount(added, 'price')} added${target}: ${costText(counts.requests, 'request', counts.computeUnits)}`,
  )
  if (missing.length === 0) return
  const assets = new Map<string, number>()
  for (const { asset, symbol } of missing) {
    const name = symbol === '' ? asset : `${symbol} (${asset})`
    assets.set(name, (assets.get(name) ?? 0) + 1)
  }
  const prices = `${formatCount(missing.length, 'price')} of ${formatCount(assets.size, 'asset')}`
  log.warn(error === undefined ? `${prices} not found, to fill in:` : `${prices} missing so far:`)
  const mostDays = [...assets].sort(([, a], [, b]) => b - a).slice(0, MAX_LISTED)
  for (const [name, days] of mostDays) log.warn(`${name} on ${formatCount(days, 'day')}`)
  if (assets.size > MAX_LISTED) log.warn(`and ${formatCount(assets.size - MAX_LISTED, 'further asset')}`)
}

/** Maximum number of assets without a price that are listed. */
const MAX_LISTED = 5
