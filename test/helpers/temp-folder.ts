import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'

/** A folder that goes away with the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A folder that goes away with the test file. */
export function suiteFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-suite-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
