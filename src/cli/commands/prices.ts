import { PRICE_SOURCE_NAMES } from '../../accounting/price-list/fetch-prices.ts'
import { priceFileText } from '../../accounting/price-list/price-file.ts'
import { daysOfYear, readYears } from '../../accounting/statement/statement.ts'
import { TIERS } from '../../core/model/compute-units.ts'
import type { ServiceAccess } from '../../sources/service-access.ts'
import type { Log } from '../../terminal/log.ts'
import { defineCommand, type OptionValues, option } from '../command.ts'
import { parseCurrency, requestPrices } from '../fetch-price-file.ts'
import {
  adjustmentsOption,
  excludeSpamOption,
  openingOption,
  outOption,
  outputArgument,
  tickersOption,
} from '../options/export-options.ts'
import { logOptions, withSignals } from '../options/log.ts'
import { type LocatedOutput, openOutput } from '../options/output-argument.ts'
import { runLimitOptions } from '../options/parsers.ts'
import { serviceOptions, withService } from '../options/service.ts'
import { chooseFormat, exists, openResultFile } from '../result-file.ts'
import { STARTS_OVER } from '../signals.ts'
import { usageError } from '../usage-error.ts'
import { warnIfIncomplete } from '../warn-incomplete.ts'

const options = [
  option('currency <code>', 'Currency of the prices', { default: 'usd', parse: parseCurrency }),
  outOption('Price file, completed if it exists (default: stdout)'),
  option('year <year>', 'UTC year (default: that of all movements, if it is one and has ended)', {
    conflicts: ['until'],
    parse: daysOfYear,
  }),
  option(
    'from <source|date>',
    `Source of prices: ${PRICE_SOURCE_NAMES.join(', ')} (default: service), or start at this UTC day or instant (repeatable)`,
    { repeatable: true },
  ),
  option('until <date>', 'Stop at the end of this UTC day, or at this instant'),
  option('assume-pegs', 'Price stablecoins at 1 of their currency, and wrapped coins as the coin'),
  excludeSpamOption,
  tickersOption('tokens that are no spam'),
  openingOption,
  adjustmentsOption,
  ...serviceOptions,
  option('tier <name>', 'Tier of the API key', { choices: TIERS }),
  ...runLimitOptions,
  ...logOptions,
]
type PricesArguments = OptionValues<typeof options>

export const command = defineCommand({
  name: 'prices',
  summary: 'Request prices for --prices',
  description:
    'Write a price file for convert, statement and report: the prices that a source states for each day with a movement, and lines to fill in for the others. They include what is held on the day before --year or --from, and on the last day. Prices that the file already has are kept.',
  arguments: [outputArgument],
  options,
  examples: [
    ['prices output/mine --from defillama --out prices.csv', 'All assets; run it again to continue'],
    [
      'prices output/mine --from defillama --from swaps --currency eur --out prices.csv',
      'In euros, and what own swaps imply',
    ],
    ['prices output/mine --year 2024 --out prices.csv', 'The coin only, from the data service'],
    ['prices output/mine --assume-pegs --out prices.csv', 'Also stablecoins and wrapped coins'],
  ],
  run: async ({ output: outputArg, ...args }) => {
    const { out, tickers, opening, adjustments } = args
    const { sources, ...given } = sourcesAndPeriod(args)
    chooseFormat(out, { formats: ['csv'], fallback: 'csv' })
    const located = await openOutput(outputArg, ['ledger', 'transactions'])
    const { output } = located
    const period = given.from === undefined && given.until === undefined ? await pastYear(output) : given
    const csvFile = sources.find((name) => name.startsWith('csv:'))?.slice('csv:'.length)
    const inputs = {
      '--tickers': tickers,
      '--opening': opening || undefined,
      '--from': csvFile,
      '--adjustments': adjustments,
    }
    const file = await openResultFile({ file: out, protectedPaths: { inputs, exports: [output] } })
    await withAccess(located, args, sources.includes('service'), async (service, log) => {
      const prices = out !== undefined && (await exists(out)) ? out : undefined
      const settings = { ...args, from: undefined, ...period, prices, sources, service }
      const fetched = await requestPrices(output, settings, { log, file: out })
      await file.write(priceFileText(fetched.lines))
      await file.close()
      if (fetched.error !== undefined) throw fetched.error
      await warnIfIncomplete(output)
    })
  },
})

/** The days of the only year of an export, if it has ended: a statement of it needs prices at its end. Nothing otherwise. */
async function pastYear(output: string): Promise<{ from?: string; until?: string }> {
  const { first, last } = await readYears([output])
  if (first === undefined || first !== last || Number(first) >= new Date().getUTCFullYear()) return {}
  return daysOfYear(first)
}

/** Separates the values of `--from`: a date begins with a digit. */
function sourcesAndPeriod({ from = [], until, year }: PricesArguments) {
  const dates = from.filter((value) => /^\d/.test(value))
  const names = from.filter((value) => !dates.includes(value))
  if (dates.length > 1)
    throw usageError(`--from has two dates, ${dates.join(' and ')}`, 'Give one date, and sources of prices.')
  if (year !== undefined && dates.length > 0)
    throw usageError("option '--year <year>' cannot be used with a date as option '--from <source|date>'")
  const sources = names.length > 0 ? names : ['service']
  return { sources, from: dates[0], until, ...year }
}

/** Runs `work` with the limits of requests and, if it is a source of prices, the data service of the output. */
async function withAccess(
  located: LocatedOutput,
  args: PricesArguments,
  usesService: boolean,
  work: (access: ServiceAccess, log: Log) => Promise<void>,
): Promise<void> {
  const interruption = args.out === undefined ? STARTS_OVER : { outcome: 'received prices are kept' }
  const limits = { maxRequests: args.maxRequests, deadlineMs: args.deadline }
  if (!usesService)
    return withSignals({ ...args, interruption }, ({ log, requests }) =>
      work({ baseUrl: undefined, ...requests, ...limits }, log),
    )
  const access = { args, operation: 'transaction', isDataApiOnly: true, interruption } as const
  return withService(located, access, ({ service, log }) =>
    work({ ...service, tier: args.tier ?? service.tier, ...limits }, log),
  )
}
