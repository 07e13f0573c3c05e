import { createReadStream } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { REJECTS_FILE } from '../../core/model/manifest.ts'
import type { Findings } from '../../read/findings.ts'
import { differenceMessage } from './files.ts'

/**
 * Checks that rejects.ndjson has the number of lines that the manifest records, each a JSON object. The file may be
 * absent if that number is 0.
 */
export async function checkRejects(folder: string, expected: number, findings: Findings): Promise<void> {
  const path = join(folder, REJECTS_FILE)
  const entry = await lstat(path).catch(() => undefined)
  if (entry === undefined) {
    findings.expect(expected === 0, () =>
      differenceMessage('rejects.ndjson', 'lines', { expected, found: 'no file' }),
    )
    return
  }
  if (!findings.expect(entry.isFile(), () => 'rejects.ndjson: expected a file, found something else')) return
  const counts = { lines: 0, firstInvalid: 0 }
  for await (const line of createInterface({
    input: createReadStream(path),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    counts.lines += 1
    if (counts.firstInvalid === 0 && !isObject(line)) counts.firstInvalid = counts.lines
  }
  findings.expect(counts.lines === expected, () =>
    differenceMessage('rejects.ndjson', 'lines', { expected, found: counts.lines }),
  )
  findings.expect(
    counts.firstInvalid === 0,
    () => `rejects.ndjson line ${counts.firstInvalid}: expected a JSON object`,
  )
}

function isObject(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
