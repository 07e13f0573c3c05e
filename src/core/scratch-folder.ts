import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeSelf, isAlive } from './lock/holder.ts'

/**
 * Makes an empty folder for this process under a temporary one, and removes those of the same use that killed processes of
 * this host have left. Its name says whose it is, as a process can be killed before it writes anything into it. Whoever
 * asked for it removes it in the end.
 */
export async function makeScratch(use: string, under: string = tmpdir()): Promise<string> {
  const host = hostname()
  const ours = `walletlake-${use}-${encodeURIComponent(host)}-`
  for (const name of await readdir(under).catch(() => [])) {
    const [, pid, ticks] =
      (name.startsWith(ours) && /^(\d+)-(\d+)-\w{6}$/.exec(name.slice(ours.length))) || []
    if (pid === undefined || ticks === undefined) continue
    if (await isAlive({ host, pid: Number(pid), ticks: ticks === UNKNOWN ? null : ticks })) continue
    await rm(join(under, name), { recursive: true, force: true }).catch(() => undefined)
  }
  const { pid, ticks } = await describeSelf()
  return mkdtemp(join(under, `${ours}${pid}-${ticks ?? UNKNOWN}-`))
}

/** In a name, the start of a process that the kernel does not tell. */
const UNKNOWN = '0'
