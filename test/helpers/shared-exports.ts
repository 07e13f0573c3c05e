import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder of the demo exports that test files share. */
    sharedExports: string
  }
}

/** Creates the folder in which all test files of a run share their demo exports. It is removed after the last one. */
export default function provideSharedExports(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-shared-'))
  project.provide('sharedExports', folder)
  return () => rmSync(folder, { recursive: true, force: true })
}
