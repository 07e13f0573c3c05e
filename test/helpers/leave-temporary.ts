import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { temporaryPathFor } from '../../src/core/platform/temporary-file.ts'

/** Leaves a temporary file beside a path as a process does that was killed; resolves with its name. */
export async function leaveTemporary(path: string): Promise<string> {
  mkdirSync(dirname(path), { recursive: true })
  // No process of this number has started at this time of the kernel's clock.
  const name = basename(await temporaryPathFor(path)).replace(/-\d+-\d+-/, `-${process.pid}-1-`)
  writeFileSync(join(dirname(path), name), 'left')
  return name
}
