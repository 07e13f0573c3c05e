import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const PREFIX = 'walletlake-tests-'
/** Space that the suite must have there, in bytes: more than twice of what it uses at most. */
const NEEDED_BYTES = 4 * 2 ** 30

/**
 * Puts the temporary folders of tests into memory, if the machine has enough of it: exports sync every file to the disk, and
 * tests make thousands of them. Elsewhere they stay in `os.tmpdir()`. Folders of runs that were killed are removed.
 */
export default function useMemory(): (() => void) | undefined {
  if (process.env.TMPDIR !== undefined) return undefined
  let folder: string
  try {
    for (const name of readdirSync(MEMORY)) if (isAbandoned(name)) remove(join(MEMORY, name))
    const { bavail, bsize } = statfsSync(MEMORY)
    if (Math.min(bavail * bsize, process.availableMemory()) < NEEDED_BYTES) return undefined
    folder = mkdtempSync(join(MEMORY, `${PREFIX}${process.pid}-`))
  } catch {
    return undefined
  }
  if (!allowsPrograms(folder)) {
    remove(folder)
    return undefined
  }
  // Some of the servers that tests start run as another user.
  chmodSync(folder, 0o1777)
  process.env.TMPDIR = folder
  return () => {
    delete process.env.TMPDIR
    remove(folder)
  }
}

const remove = (folder: string) => rmSync(folder, { recursive: true, force: true })

function isAbandoned(name: string): boolean {
  const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN
  return !Number.isNaN(pid) && !isRunning(pid)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Tests install and start programs in their folders, which some mounts do not allow. */
function allowsPrograms(folder: string): boolean {
  const probe = join(folder, 'probe')
  writeFileSync(probe, '#!/bin/sh\n', { mode: 0o755 })
  return spawnSync(probe).status === 0
}
