import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Peak memory of Redis, in bytes. */
export async function queueMemory(url) {
  const { stdout } = await promisify(execFile)('redis-cli', ['-u', url, 'info', 'memory'])
  return Number(/used_memory_peak:(\d+)/.exec(stdout)?.[1])
}
