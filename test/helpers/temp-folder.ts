import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'

/** Creates a folder that is removed when the test ends. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Writes a file of this name in a new folder, which is removed when the test ends. Returns its path. */
export function tempFile(name: string, content: string | Uint8Array): string {
  const path = join(tempFolder(), name)
  writeFileSync(path, content)
  return path
}

/** Creates a folder that is removed after all tests of the file. */
export function suiteFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-suite-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
