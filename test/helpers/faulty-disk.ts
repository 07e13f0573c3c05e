import { pathToFileURL } from 'node:url'

/** How the disk of a started program breaks (breaking-disk.js says what each means); `at` counts steps from 1. */
export type DiskFault =
  | { how: 'count'; trace: string }
  | { how: 'kill' | 'kill-after' | 'torn' | 'stall' | 'SIGINT' | 'SIGTERM'; at: number }
  | { how: 'power-cut'; at: number; scratch: string }
  | { how: `E${string}`; at: number }
  | { how: `E${string}`; only: 'link' | 'folder sync' }

const PRELOAD = new URL('./faulty-disk-preload.js', import.meta.url)

/** The environment that makes a program's disk break. */
export function faultyDiskEnv(plan: DiskFault): NodeJS.ProcessEnv {
  const preload = pathToFileURL(PRELOAD.pathname).href
  return { BREAKING_DISK: JSON.stringify(plan), NODE_OPTIONS: `--import ${preload}` }
}
