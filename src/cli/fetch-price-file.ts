import { realpath } from 'node:fs/promises'
import {
  type FetchedPrices,
  type FetchPricesOptions,
  fetchPrices,
} from '../accounting/price-list/fetch-prices.ts'
import { priceFileText, readFileCurrency } from '../accounting/price-list/price-file.ts'
import { optionError } from '../core/model/option-error.ts'
import { assertNotSpecial } from '../core/platform/special-entries.ts'
import { writeNamedFile } from '../core/platform/user-file.ts'
import type { ServiceAccess } from '../sources/service-access.ts'
import { formatCount, limitLines } from '../terminal/format.ts'
import type { Log } from '../terminal/log.ts'
import { option } from './command.ts'
import { throttledProgress, withSignals } from './options/log.ts'
import type { LocatedOutput } from './options/output-argument.ts'
import { count } from './options/parsers.ts'
import { readAccessOfOutput } from './options/service.ts'
import { exists } from './result-file.ts'
import { usageError } from './usage-error.ts'

/** Requests prices of an export, and logs what is requested and received. */
export async function requestPrices(
  output: string,
  options: Omit<FetchPricesOptions, 'onStart' | 'onProgress'>,
  { log, file }: { log: Log; file: string | undefined },
): Promise<FetchedPrices> {
  const progress = throttledProgress(log)
  let unit = 'day'
  const fetched = await fetchPrices(output, {
    ...options,
    onStart: ({ source: name, requests, computeUnits, prices }) => {
      unit = name === SERVICE ? 'day' : 'request'
      const what =
        name === SERVICE
          ? `the prices of ${costText(requests, 'day', computeUnits)}`
          : `${formatCount(prices, 'price')} from ${name}: ${formatCount(requests, 'request')}`
      log.info(`requesting ${what}`)
    },
    onProgress: (answers) => progress(`${formatCount(answers, unit)} done`),
  })
  reportPrices(fetched, log, { file, usesUnits: (options.sources ?? [SERVICE]).includes(SERVICE) })
  return fetched
}

const SERVICE = 'service'

const costText = (count: number, unit: string, computeUnits: number) =>
  `${formatCount(count, unit)} (${formatCount(computeUnits, 'compute unit')})`

type ReportOptions = { file: string | undefined; usesUnits: boolean }

/** Reports on stderr what was requested, and what has no price. */
function reportPrices(
  { added, missing, counts, error }: FetchedPrices,
  log: Log,
  { file, usesUnits }: ReportOptions,
): void {
  const target = file === undefined ? '' : ` in ${file}`
  const cost = usesUnits
    ? costText(counts.requests, 'request', counts.computeUnits)
    : formatCount(counts.requests, 'request')
  log.info(`${formatCount(added, 'price')} added${target}: ${cost}`)
  if (missing.length === 0) return
  const assets = new Map<string, number>()
  for (const { asset, symbol } of missing) {
    const name = symbol === '' ? asset : `${symbol} (${asset})`
    assets.set(name, (assets.get(name) ?? 0) + 1)
  }
  const prices = `${formatCount(missing.length, 'price')} of ${formatCount(assets.size, 'asset')}`
  log.warn(error === undefined ? `${prices} not found, to fill in:` : `${prices} missing so far:`)
  const mostDays = [...assets].sort(([, a], [, b]) => b - a)
  log.warn(
    limitLines(
      mostDays,
      MAX_LISTED,
      ([name, days]) => `${name} on ${formatCount(days, 'day')}`,
      (more) => `and ${formatCount(more, 'further asset')}`,
    ),
  )
}

/** Maximum number of assets without a price that are listed. */
const MAX_LISTED = 5

export function parseCurrency(text: string): string {
  if (/^[A-Za-z]{2,10}$/.test(text)) return text.toUpperCase()
  throw optionError('currency', { found: text, expected: 'a code such as usd' })
}

/** Options of commands with `--prices` that apply to `--prices auto`. */
export const autoPriceOptions = [
  option('currency <code>', 'Currency of --prices auto (default: that of its file, or usd)', {
    parse: parseCurrency,
  }),
  option('max-requests <n>', 'Stop --prices auto after this many requests, with exit code 9 (resumable)', {
    parse: count(),
  }),
]

/** `auto`, or `auto:` with the names of sources separated by commas. */
const AUTO = /^auto(?::(.*))?$/
const AUTO_SOURCES = ['defillama']

export type AutoPrices = Omit<FetchPricesOptions, 'service' | 'currency' | 'prices' | 'sources'> & {
  prices?: string | undefined
  currency?: string | undefined
  maxRequests?: number | undefined
}

/**
 * Returns the file of `--prices`. `auto` stands for a file beside the first output, which is completed here with the prices
 * that the outputs need; it may contain lines of the user, who decides what it keeps.
 */
export async function priceFileOf(
  located: readonly LocatedOutput[],
  { prices, currency, maxRequests, ...options }: AutoPrices,
): Promise<string | undefined> {
  const auto = AUTO.exec(prices ?? '')
  if (auto === null) {
    requireAuto({ currency, 'max-requests': maxRequests })
    return prices
  }
  const sources = auto[1]?.split(',') ?? AUTO_SOURCES
  const file = await autoFileOf(located)
  return withSignals({ interruption: { outcome: 'received prices are kept' } }, async ({ log, requests }) => {
    const usage = { requests: 0 }
    for (const output of located) {
      const access: ServiceAccess = sources.includes(SERVICE)
        ? await readAccessOfOutput(
            output,
            { args: {}, operation: 'transaction', isDataApiOnly: true },
            log.info,
          )
        : { baseUrl: undefined }
      const kept = (await exists(file)) ? file : undefined
      const service = { ...access, ...requests, maxRequests, usage }
      const code = currency ?? (kept && (await readFileCurrency(kept))) ?? 'USD'
      const fetched = await requestPrices(
        output.output,
        { ...options, sources, service, currency: code, prices: kept },
        { log, file },
      )
      await writeNamedFile(file, priceFileText(fetched.lines))
      if (fetched.error !== undefined) throw fetched.error
    }
    return file
  })
}

function requireAuto(options: Readonly<Record<string, unknown>>): void {
  const given = Object.keys(options).find((name) => options[name] !== undefined)
  if (given !== undefined)
    throw usageError(`--${given} applies to --prices auto only`, `Omit --${given}, or add --prices auto.`)
}

/** The file beside the first output. It is no part of the export, so that a run does not remove it. */
async function autoFileOf([first]: readonly LocatedOutput[]): Promise<string> {
  if (first === undefined || first.store !== undefined)
    throw usageError(
      `${first?.name ?? 'the output'} is in an object store, where prices cannot be kept`,
      'Write a local file with `walletlake prices OUTPUT --from defillama --out FILE`, and name it with --prices.',
    )
  const file = `${await realpath(first.output)}.prices.csv`
  // The name is predictable, so another user of the machine could have planted a link there.
  await assertNotSpecial(file)
  return file
}
