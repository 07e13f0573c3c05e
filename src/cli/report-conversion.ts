import { basename, dirname } from 'node:path'
import type { ConversionResult } from '../accounting/convert.ts'
import type { ConvertOptions } from '../accounting/options.ts'
import { isJournal } from '../accounting/writers.ts'
import { formatCount } from '../terminal/format.ts'
import { openLog } from './options/log.ts'
import { openingLines } from './options/opening-option.ts'
import { unmatchedText } from './warn-unmatched.ts'

type ConversionOptions = Pick<ConvertOptions, 'to' | 'out' | 'labels' | 'opening' | 'from' | 'until'>

/** Reports on stderr what was written, and what may be wrong with it. */
export function reportConversion(converted: ConversionResult, options: ConversionOptions): void {
  const log = openLog({})
  log.info(formatResult(converted, options))
  if (converted.ledgerTimeRange !== undefined) log.warn(emptyPeriodLine(converted.ledgerTimeRange, options))
  if (converted.merged > 0)
    log.info(
      `${formatCount(converted.merged, 'line')} added to an equal one: ${options.to} could take them for duplicates`,
    )
  if (converted.split > 0)
    log.info(
      `${formatCount(converted.split, 'movement')} added: payments through a contract are split into transfers to your wallets`,
    )
  if (converted.placeholders !== undefined) log.info(placeholderLine(converted.placeholders))
  for (const line of openingLines(options.opening, converted.opening)) log.warn(line)
  for (const [reason, count] of Object.entries(converted.omitted))
    log.warn(
      `${formatCount(count, 'movement')} ${reason.startsWith('cut off') ? reason : `left out: ${reason}`}`,
    )
  if (converted.omittedFile !== undefined) log.warn(`listed in ${converted.omittedFile}`)
  if (converted.staleFiles.length > 0) log.warn(staleLine(converted.staleFiles))
  for (const warning of [...labelWarnings(converted, options), ...unpricedWarnings(converted)])
    log.warn(warning)
}

/** Names the numbers of tokens without a ticker, and the file that later conversions need to give them the same ones. */
function placeholderLine({ names, file }: NonNullable<ConversionResult['placeholders']>): string {
  const numberOf = (name: string) => Number(/\d+$/.exec(name)?.[0])
  const listed = ['NULL', 'NFT'].flatMap((kind) => {
    const ofKind = names.filter((name) => name.startsWith(kind)).sort((a, b) => numberOf(a) - numberOf(b))
    return ofKind.length > 2 ? [`${ofKind[0]} … ${ofKind.at(-1)}`] : ofKind
  })
  const what = `${formatCount(names.length, 'token')} without a ticker ${names.length === 1 ? 'is' : 'are'} named ${listed.join(', ')}`
  return `${what}: ${file} says what they are. Keep it, so that later files use the same names`
}

/** Maximum number of assets without a price that are listed. */
const MAX_UNPRICED_WARNINGS = 5

function unpricedWarnings({ unpriced }: ConversionResult): string[] {
  const assets = Object.entries(unpriced)
  const remaining = assets.length - MAX_UNPRICED_WARNINGS
  return [
    ...assets
      .slice(0, MAX_UNPRICED_WARNINGS)
      .map(([asset, count]) => `${formatCount(count, 'amount')} of ${asset} without a price`),
    ...(remaining > 0 ? [`and of ${formatCount(remaining, 'further asset')}: see --prices-needed`] : []),
  ]
}

/** Maximum number of inapplicable labels that are listed. */
const MAX_MISFIT_WARNINGS = 5

function labelWarnings(
  { labels: { unmatched, inapplicable } }: ConversionResult,
  { labels }: ConversionOptions,
): string[] {
  const warnings = inapplicable
    .slice(0, MAX_MISFIT_WARNINGS)
    .map(
      ({ line, type, needs, count, first }) =>
        `${labels}:${line}: ${type} needs ${needs}: ${formatCount(count, 'line')} without that kept the usual type, ` +
        `the first in transaction ${first}`,
    )
  const remaining = inapplicable.length - MAX_MISFIT_WARNINGS
  if (remaining > 0)
    warnings.push(`and ${formatCount(remaining, 'further label')} did not fit all lines that matched`)
  if (unmatched === undefined) return warnings
  const text = unmatchedText({ file: labels ?? '', ...unmatched })
  return [...warnings, `${text} (fees and own transfers keep their type)`]
}

/** Warning for a period without movements. It names the period that the export covers. */
export function emptyPeriodLine(
  { first, last }: NonNullable<ConversionResult['ledgerTimeRange']>,
  { from, until }: Pick<ConversionOptions, 'from' | 'until'>,
): string {
  const period = [
    from === undefined ? '' : ` from ${from}`,
    until === undefined ? '' : ` until ${until}`,
  ].join('')
  return `no movement${period}: the export has movements from ${first} to ${last}`
}

/** Unit in which the entries of a format are counted. */
export const unitOf = (to: string) => (isJournal(to) ? 'transaction' : 'line')

/** Maximum number of files that are listed. */
const MAX_LISTED_FILES = 5

/** Warning about files of wallets that are in the folder, but not of this conversion. */
function staleLine(files: readonly string[]): string {
  const names = files.slice(0, MAX_LISTED_FILES).map((file) => basename(file))
  const more = files.length > names.length ? ' and others' : ''
  const count =
    files.length === 1
      ? '1 file of an earlier conversion is'
      : `${files.length} files of earlier conversions are`
  return `${count} still in ${dirname(files[0] ?? '')}, do not import: ${names.join(', ')}${more}`
}

function formatResult(
  { movements, lines, files: written, omittedFile }: ConversionResult,
  { to, out }: ConversionOptions,
): string {
  const files = written.filter((file) => file !== omittedFile)
  const message = `${formatCount(movements, 'movement')} became ${formatCount(lines, unitOf(to))} for ${to}`
  if (files.length === 0) return message
  return files.length > MAX_LISTED_FILES
    ? `${message}: ${files.length} files in ${out}`
    : `${message}: ${files.join(', ')}`
}
