import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'

/** Creates a folder that is removed when the test ends. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Creates a folder that is removed after all tests of the file. */
export function suiteFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-suite-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
