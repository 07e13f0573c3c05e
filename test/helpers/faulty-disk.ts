import { pathToFileURL } from 'node:url'

/**
 * A disk fault for a started program (see faulty-disk-preload.js). `at` counts operations from 1;
 * `matching` is a regular expression of their names and files.
 */
export type DiskFault =
  | { how: 'count'; trace: string }
  | {
      how: 'copy'
      matching: string
      output: string
      to: string
      after: 'kill' | 'power-cut'
      scratch: string
    }
  | { how: 'kill' | 'kill-after' | 'torn' | 'stall' | 'SIGINT' | 'SIGTERM'; at: number }
  | { how: 'power-cut'; at: number; scratch: string }
  | { how: `E${string}`; at: number }
  | { how: `E${string}`; from: string }
  | { how: `E${string}`; only: 'link' | 'folder sync' }

const PRELOAD = new URL('./faulty-disk-preload.js', import.meta.url)

/** The environment variables that inject the fault into a program. */
export function faultyDiskEnv(plan: DiskFault): NodeJS.ProcessEnv {
  const preload = pathToFileURL(PRELOAD.pathname).href
  return { FAULTY_DISK: JSON.stringify(plan), NODE_OPTIONS: `--import ${preload}` }
}
