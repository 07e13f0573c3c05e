import { spawnSync } from 'node:child_process'

const BIN = new URL('../../dist/bin.js', import.meta.url).pathname
/** Prints the resource usage of the process and its threads when it exits. */
const REPORT = `import { isMainThread } from 'node:worker_threads'
if (isMainThread) process.on('exit', () => process.stderr.write('USED ' + JSON.stringify(process.resourceUsage())))`

/** Runs walletlake until it exits; see `measure`. */
export const runMeasured = (args) => measure([BIN, ...args])

/**
 * Runs Node with these arguments until it exits. Returns wall and CPU seconds (of all threads), peak memory in MB, and
 * stdout. Throws if the exit code is not 0.
 */
export function measure(args) {
  const report = `data:text/javascript,${encodeURIComponent(REPORT)}`
  const started = performance.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', report, ...args], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`exit ${status}: ${stderr}`)
  const seconds = (performance.now() - started) / 1000
  const used = JSON.parse(/USED (\{.*\})/.exec(stderr)[1])
  const cpuSeconds = (used.userCPUTime + used.systemCPUTime) / 1e6
  return { seconds, cpuSeconds, peakMB: Math.round(used.maxRSS / 1024), stdout }
}
