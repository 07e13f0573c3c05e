import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { temporaryPathFor } from '../../src/core/platform/temporary-file.ts'

/** Creates a temporary file next to a path, as a killed process leaves it. Resolves to its name. */
export async function leaveTemporary(path: string): Promise<string> {
  mkdirSync(dirname(path), { recursive: true })
  // This process id with another start time: no such process exists.
  const name = basename(await temporaryPathFor(path)).replace(/-\d+-\d+-/, `-${process.pid}-1-`)
  writeFileSync(join(dirname(path), name), 'left')
  return name
}
