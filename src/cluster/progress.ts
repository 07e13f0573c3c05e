import type { Figures } from '../core/model/run-stats.ts'
import { COUNTED, type SharedServer, type Tally } from './server/shared-server.ts'

export async function readTally(server: SharedServer, id: string): Promise<Tally> {
  const counts = await server.counted(id)
  return Object.fromEntries(COUNTED.map((name) => [name, counts[name] ?? 0])) as Tally
}

/** Tells what a worker has counted since it last told; `told` changes in place. */
export async function addToTally(
  server: SharedServer,
  id: string,
  { figures, told }: Telling,
): Promise<void> {
  const more: Partial<Tally> = {}
  for (const name of COUNTED) {
    const count = figures[name] - (told[name] ?? 0)
    if (count > 0) more[name] = count
    told[name] = figures[name]
  }
  if (Object.keys(more).length > 0) await server.count(id, more)
}

export type Telling = { figures: Figures; told: Partial<Tally> }
