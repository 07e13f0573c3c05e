import { spawnSync } from 'node:child_process'

const BIN = new URL('../../dist/bin.js', import.meta.url).pathname
/** Prints the process's peak resident set in KiB as it exits. */
const REPORT = `import { isMainThread } from 'node:worker_threads'
if (isMainThread) process.on('exit', () => process.stderr.write('PEAK ' + process.resourceUsage().maxRSS))`

/** Runs walletlake to its end; gives seconds, peak memory in MB and what it printed. Throws where it fails. */
export function runMeasured(args) {
  const report = `data:text/javascript,${encodeURIComponent(REPORT)}`
  const started = performance.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', report, BIN, ...args], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`exit ${status}: ${stderr}`)
  const seconds = (performance.now() - started) / 1000
  return { seconds, peakMB: Math.round(Number(/PEAK (\d+)/.exec(stderr)[1]) / 1024), stdout }
}
