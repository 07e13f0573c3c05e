import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
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
  const folder = await mkdtemp(join(under, `walletlake-${use}-`))
  await writeFile(join(folder, HOLDER), JSON.stringify(await describeSelf()))
  return folder
}

const HOLDER = 'holder'

/** One without a holder, or of a process that may be alive, stays. */
async function sweep(use: string, under: string): Promise<void> {
  const names = await readdir(under).catch(() => [])
  for (const name of names.filter((one) => one.startsWith(`walletlake-${use}-`))) {
    const holder = parseHolder((await readTextIfAny(join(under, name, HOLDER)).catch(() => '')) ?? '')
    if (holder === undefined || (await isAlive(holder))) continue
    await rm(join(under, name), { recursive: true, force: true }).catch(() => undefined)
  }
}
