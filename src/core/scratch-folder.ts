import { mkdtemp, readdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readTextIfAny } from './disk.ts'
import { describeSelf, isAlive, parseHolder } from './lock/holder.ts'

/**
 * Makes an empty folder for this process under a temporary one, named `walletlake-<use>-…`, and removes those of the same
 * use that killed processes have left. Whoever asked for it removes it in the end.
 */
export async function makeScratch(use: string, under: string = tmpdir()): Promise<string> {
  await sweep(use, under)
  const holder = JSON.stringify(await describeSelf())
  for (;;) {
    const folder = await mkdtemp(join(under, `walletlake-${use}-`))
    if (await isHeld(folder, holder)) return folder
  }
}

const HOLDER = 'holder'

/** Says whose the folder is; false where another process has swept it meanwhile, as nobody's. */
async function isHeld(folder: string, holder: string): Promise<boolean> {
  try {
    await writeFile(join(folder, HOLDER), holder)
    return true
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw thrown
  }
}

/** What a process holds that may be alive stays; without a holder only what is empty goes. */
async function sweep(use: string, under: string): Promise<void> {
  const names = await readdir(under).catch(() => [])
  for (const name of names.filter((one) => one.startsWith(`walletlake-${use}-`))) {
    const folder = join(under, name)
    const holder = parseHolder((await readTextIfAny(join(folder, HOLDER)).catch(() => '')) ?? '')
    if (holder === undefined) await rmdir(folder).catch(() => undefined)
    else if (!(await isAlive(holder)))
      await rm(folder, { recursive: true, force: true }).catch(() => undefined)
  }
}
