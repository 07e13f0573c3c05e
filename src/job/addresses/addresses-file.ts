import { createReadStream } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import type { Wallet } from '../../core/model/model.ts'
import { asUtf8, MISSING_BOM, TEXT_EXPECTED } from '../../core/platform/text-encoding.ts'
import { type Diagnostic, invalidValue, type ReportDiagnostic } from '../diagnostics.ts'
import type { RawValue } from '../resolve/raw-value.ts'
import { describeReadError, type FileProblem, readEncoding, validateFile } from '../yaml/read-job-text.ts'
import { type AddressFileLayout, detectLayout, parseAddressLine } from './parse-address-line.ts'
import { readLines } from './read-lines.ts'
import { addWallet, sortedWallets, type WalletSet } from './wallet-set.ts'

/** Maximum size of an addresses file in bytes, enough for about 1.4 million addresses. */
const MAX_ADDRESSES_FILE_BYTES = 64 * 1024 * 1024

export type AddressesFile = {
  /** The field that names the file, for diagnostics about the whole file. */
  readonly raw: RawValue
  /** Path in the job: absolute, or relative to the job file. */
  readonly path: string
  readonly jobFile: string
  readonly report: ReportDiagnostic
}

/**
 * Reads the wallets of an addresses file, sorted by address.
 *
 * The file is read line by line, so only the wallets themselves take memory. The first 20 diagnostics are reported with
 * file and line; the others are only counted.
 */
export async function readAddressesFile({
  raw,
  path,
  jobFile,
  report,
}: AddressesFile): Promise<readonly Wallet[]> {
  const file = isAbsolute(path) ? path : join(dirname(jobFile), path)
  const limited = limitDiagnostics(report)
  const wallets: WalletSet = new Map()
  const problem =
    (await validateFile(file, MAX_ADDRESSES_FILE_BYTES)) ??
    (await addWalletLines(wallets, file, limited.report).catch(describeReadError))
  if (problem !== undefined)
    report({ ...invalidValue(raw, problem.expected), found: `${problem.found}: ${file}` })
  else if (wallets.size === 0 && limited.count() === 0)
    report(invalidValue(raw, 'a file with at least one address'))
  limited.close()
  return sortedWallets(wallets)
}

/** Adds the wallets of all lines. Returns the problem if the file as a whole cannot be read. */
async function addWalletLines(
  wallets: WalletSet,
  file: string,
  report: ReportDiagnostic,
): Promise<FileProblem | undefined> {
  const encoding = await readEncoding(file)
  if (encoding === 'unmarked') return { found: MISSING_BOM, expected: TEXT_EXPECTED }
  let layout: AddressFileLayout | undefined
  for await (const line of readLines(asUtf8(createReadStream(file), encoding))) {
    if ('text' in line && SKIPPED_LINE.test(line.text)) continue
    const lineContext = { file, line, report }
    const isFirst = layout === undefined
    layout ??= detectLayout(lineContext)
    if (layout.columns === 'none') return undefined
    if (isFirst && layout.columns !== 'one a line') continue
    const entry = parseAddressLine(lineContext, layout)
    if (entry !== undefined) addWallet(wallets, entry, report)
  }
  return undefined
}

/** Blank lines, comments, and the `sep=` line that some spreadsheets write first. */
const SKIPPED_LINE = /^\s*(#|$)|^sep=.$/

const MAX_FILE_DIAGNOSTICS = 20

/** Holds back the first diagnostics until the number of further ones is known. */
function limitDiagnostics(report: ReportDiagnostic) {
  const first: Diagnostic[] = []
  let count = 0
  return {
    count: () => count,
    report: (diagnostic: Diagnostic) => {
      count += 1
      if (count <= MAX_FILE_DIAGNOSTICS) first.push(diagnostic)
    },
    close: () => {
      const more = Math.max(0, count - MAX_FILE_DIAGNOSTICS)
      for (const [index, diagnostic] of first.entries()) {
        report(index === first.length - 1 ? { ...diagnostic, more } : diagnostic)
      }
    },
  }
}
