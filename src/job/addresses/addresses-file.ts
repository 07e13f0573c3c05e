import { createReadStream } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import type { Wallet } from '../../core/model/model.ts'
import { against, type Complain, type Complaint } from '../diagnostics.ts'
import type { Given } from '../resolve/raw-value.ts'
import { type FileRefusal, readEncoding, refusalOf, refuseFile } from '../yaml/read-job-text.ts'
import { asUtf8, TEXT_EXPECTED, UNMARKED } from './encoding.ts'
import { type Layout, layoutOf, parseAddressLine } from './parse-address-line.ts'
import { readLines } from './read-lines.ts'
import { enroll, type Roster, walletsOf } from './wallet-set.ts'

/** Bytes of an addresses file at most: about 1.4 million addresses. */
const ADDRESSES_FILE_BYTES = 64 * 1024 * 1024

export type AddressesFile = {
  /** The field, for complaints of the file as a whole. */
  readonly given: Given
  /** As the job has it: relative to the job file, or absolute. */
  readonly path: string
  readonly jobFile: string
  readonly complain: Complain
}

/**
 * The wallets of an addresses file, in order of their addresses.
 *
 * The file is read line by line: beside the wallets themselves nothing grows with it. Its complaints name it and the
 * line; after 20 the rest is only counted.
 */
export async function readAddressesFile({
  given,
  path,
  jobFile,
  complain,
}: AddressesFile): Promise<readonly Wallet[]> {
  const file = isAbsolute(path) ? path : join(dirname(jobFile), path)
  const counted = openCounted(complain)
  const roster: Roster = new Map()
  const refusal =
    (await refuseFile(file, ADDRESSES_FILE_BYTES)) ??
    (await enrollLines(roster, file, counted.complain).catch(refusalOf))
  if (refusal !== undefined)
    complain({ ...against(given, refusal.expected), found: `${refusal.found}: ${file}` })
  else if (roster.size === 0 && counted.count() === 0)
    complain(against(given, 'a file with at least one address'))
  counted.close()
  return walletsOf(roster)
}

/** Adds the wallets of all lines; what it gives is why the file as a whole cannot be read. */
async function enrollLines(
  roster: Roster,
  file: string,
  complain: Complain,
): Promise<FileRefusal | undefined> {
  const encoding = await readEncoding(file)
  if (encoding === 'unmarked') return { found: UNMARKED, expected: TEXT_EXPECTED }
  let layout: Layout | undefined
  for await (const line of readLines(asUtf8(createReadStream(file), encoding))) {
    if ('text' in line && SKIPPED.test(line.text)) continue
    const at = { file, line, complain }
    const isFirst = layout === undefined
    layout ??= layoutOf(at)
    if (layout.columns === 'none') return undefined
    if (isFirst && layout.columns !== 'one a line') continue
    const entry = parseAddressLine(at, layout)
    if (entry !== undefined) enroll(roster, entry, complain)
  }
  return undefined
}

/** Blank lines, comments, and the first line of spreadsheets that names the separator. */
const SKIPPED = /^\s*(#|$)|^sep=.$/

const SHOWN_COMPLAINTS = 20

/** Holds the first complaints back until it is known how many more there are. */
function openCounted(complain: Complain) {
  const first: Complaint[] = []
  let count = 0
  return {
    count: () => count,
    complain: (complaint: Complaint) => {
      count += 1
      if (count <= SHOWN_COMPLAINTS) first.push(complaint)
    },
    close: () => {
      const more = Math.max(0, count - SHOWN_COMPLAINTS)
      for (const [index, complaint] of first.entries()) {
        complain(index === first.length - 1 ? { ...complaint, more } : complaint)
      }
    },
  }
}
