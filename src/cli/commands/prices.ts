import { type FetchedPrices, fetchPrices, priceFileText } from '../../accounting/price-list/fetch-prices.ts'
import { TIERS } from '../../core/model/compute-units.ts'
import { optionError } from '../../core/model/option-error.ts'
import { formatCount, limitLines } from '../../terminal/format.ts'
import type { Log } from '../../terminal/log.ts'
import { defineCommand, type OptionValues, option } from '../command.ts'
import {
  excludeSpamOption,
  openingOption,
  outOption,
  outputArgument,
  periodOptions,
  tickersOption,
} from '../options/export-options.ts'
import { logOptions, throttledProgress } from '../options/log.ts'
import { openOutput } from '../options/output-argument.ts'
import { runLimitOptions } from '../options/parsers.ts'
import { serviceOptions, withService } from '../options/service.ts'
import { chooseFormat, exists, openResultFile } from '../result-file.ts'
import { STARTS_OVER } from '../signals.ts'
import { warnIfIncomplete } from '../warn-incomplete.ts'

const options = [
  option('currency <code>', 'Currency of the prices', { default: 'usd', parse: parseCurrency }),
  outOption('Price file, completed if it exists (default: stdout)'),
  ...periodOptions,
  option('assume-pegs', 'Price stablecoins at 1 of their currency, and wrapped coins as the coin'),
  excludeSpamOption,
  tickersOption('tokens that are no spam'),
  openingOption,
  ...serviceOptions,
  option('tier <name>', 'Tier of the API key', { choices: TIERS }),
  ...runLimitOptions,
  ...logOptions,
]

export const command = defineCommand({
  name: 'prices',
  summary: 'Request the prices of the coin for --prices',
  description:
    'Write a price file for convert, statement and report: the price of the native coin on each day with a movement, from the details of one transaction of that day, and lines to fill in for other assets and days. They include what is held on the day before --year or --from, and on the last day. Prices that the file already has are kept.',
  arguments: [outputArgument],
  options,
  examples: [
    ['prices output/mine --out prices.csv', 'All days with a movement; run it again to continue'],
    ['prices output/mine --year 2024 --out prices.csv', 'What `statement --year 2024` needs'],
    ['prices output/mine --assume-pegs --out prices.csv', 'Also stablecoins and wrapped coins'],
  ],
  run: ({ output, ...args }) => writePrices(output, args),
})

async function writePrices(outputArg: string, args: OptionValues<typeof options>): Promise<void> {
  const { out, currency, year, assumePegs, excludeSpam = false, tickers, opening } = args
  const { from, until } = { ...args, ...year }
  chooseFormat(out, { formats: ['csv'], fallback: 'csv' })
  const located = await openOutput(outputArg, ['ledger', 'transactions'])
  const { output } = located
  const inputs = { '--tickers': tickers, '--opening': opening || undefined }
  const file = await openResultFile({ file: out, protectedPaths: { inputs, exports: [output] } })
  const interruption = out === undefined ? STARTS_OVER : { outcome: 'received prices are kept' }
  const access = { args, operation: 'transaction', isDataApiOnly: true, interruption } as const
  await withService(located, access, async ({ service, log }) => {
    const progress = throttledProgress(log)
    const { maxRequests, deadline: deadlineMs } = args
    const fetched = await fetchPrices(output, {
      currency,
      from,
      until,
      assumePegs,
      excludeSpam,
      tickers,
      opening,
      prices: out !== undefined && (await exists(out)) ? out : undefined,
      service: { ...service, tier: args.tier ?? service.tier, maxRequests, deadlineMs },
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

function parseCurrency(text: string): string {
  if (/^[A-Za-z]{2,10}$/.test(text)) return text.toUpperCase()
  throw optionError('currency', { found: text, expected: 'a code such as usd' })
}

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
  const mostDays = [...assets].sort(([, a], [, b]) => b - a)
  for (const line of limitLines(
    mostDays,
    MAX_LISTED,
    ([name, days]) => `${name} on ${formatCount(days, 'day')}`,
    (more) => `and ${formatCount(more, 'further asset')}`,
  ))
    log.warn(line)
}

/** Maximum number of assets without a price that are listed. */
const MAX_LISTED = 5
