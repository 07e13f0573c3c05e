import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { ExportError } from '../../../src/core/model/errors.ts'
import type { Job } from '../../../src/core/model/model.ts'
import { type RunOptions, run } from '../../../src/export/run.ts'
import { startCommand } from '../command.ts'
import { readManifest } from '../read-output.ts'
import { growChain, reorg } from './chain-model.ts'
import type { IncrementalRun } from './scenario.ts'
import { jobOf, type ScenarioState } from './state.ts'

/** Runs the current job until it is complete, with an interruption. The chain may grow at the first request. */
export async function runIncremental(
  state: ScenarioState,
  { interruption, interruptAt, blocksDuringRun }: IncrementalRun,
  lookbackBlocks: number | undefined,
): Promise<void> {
  const { chainModel, listed, service, scenario } = state
  const job = jobOf(state)
  const options = lookbackBlocks === undefined ? {} : { lookbackBlocks }
  const [first, last] = [service.requests() + 1, service.requests() + interruptAt]
  const onInterruption = (interrupt: () => void) => {
    service.onRequest.act = () => {
      if (service.requests() === first)
        growChain(chainModel, { blocks: blocksDuringRun, runIndex: listed.runIndex, inFuture: true })
      if (service.requests() === last) interrupt()
    }
  }
  onInterruption(() => {})
  if (interruption === 'kill' && scenario.service.faults === 0)
    await runAndKill(state, job, { onInterruption, lookbackBlocks })
  else if (interruption === 'budget')
    await runOnce(job, { ...options, maxRequests: interruptAt }, ['BUDGET_REACHED'])
  else if (interruption === 'abort') {
    const stop = new AbortController()
    onInterruption(() => stop.abort())
    await runOnce(job, { ...options, signal: stop.signal }, ['INTERRUPTED'])
  }
  await runOnce(job, options, [])
  service.onRequest.act = () => {}
}

/** Runs the job with a reorg between two of its requests, then again: the second run finds the stale blocks. */
export async function runDuringReorg(
  state: ScenarioState,
  { interruptAt, depth }: IncrementalRun,
): Promise<void> {
  const { chainModel, listed, service, finalBefore } = state
  const job = jobOf(state)
  const at = service.requests() + 1 + (interruptAt % 4)
  service.onRequest.act = () => {
    if (service.requests() === at)
      reorg(chainModel, Math.max(finalBefore, chainModel.blocks.length - depth, 1), listed.runIndex)
  }
  await runOnce(job, {}, [])
  service.onRequest.act = () => {}
  state.end = Math.max(...readManifest(job.output).coverage.map(({ toBlock }) => toBlock))
  await runOnce(job, {}, [])
}

/** Runs the job in this process. Throws its error unless the code is in `expected`. */
async function runOnce(job: Job, options: RunOptions, expected: readonly string[]): Promise<void> {
  const { jobs } = await run([job], { retry: { firstDelayMs: 1, maxDelayMs: 2, retries: 30 }, ...options })
  const error = jobs[0]?.error
  if (error !== undefined && !(error instanceof ExportError && expected.includes(error.code))) throw error
}

type KillOptions = { onInterruption: (interrupt: () => void) => void; lookbackBlocks: number | undefined }

/** Runs the built program and kills it at the interruption. */
async function runAndKill(
  { output, service }: ScenarioState,
  job: Job,
  { onInterruption, lookbackBlocks }: KillOptions,
) {
  const file = join(output, '..', 'job.json')
  writeFileSync(file, JSON.stringify(fieldsOf(job)))
  const options = [
    ...(job.escapeFormulas ? [] : ['--no-escape-formulas']),
    ...(lookbackBlocks === undefined ? [] : ['--lookback', String(lookbackBlocks)]),
  ]
  const child = startCommand(['run', file, '--base-url', service.url, '--quiet', ...options])
  onInterruption(() => child.kill('SIGKILL'))
  const { exit, stderr } = await child.ended
  // Blocks created during the run are in the future, so a run that completes before the kill may report CLOCK_BEHIND.
  const isClockBehind = exit === 6 && stderr.startsWith('CLOCK_BEHIND')
  expect([exit === null || exit === 0 || isClockBehind, stderr]).toEqual([true, stderr])
}

/** The fields of a job in its file. */
function fieldsOf(job: Job): object {
  const { name, chain, tables, format, compression, output, maxRowsPerFile, partitionBy } = job
  const { startBlock, endBlock, nativeSymbol, targetFileBytes, concurrency, keepRaw, finalityMs } = job
  return {
    ...{
      name,
      chain,
      tables,
      format,
      compression,
      output,
      maxRowsPerFile,
      partitionBy,
      concurrency,
      keepRaw,
    },
    addresses: job.wallets.map(({ address, label }) => (label === null ? address : { address, label })),
    startBlock,
    ...(nativeSymbol === null ? {} : { nativeSymbol }),
    ...(targetFileBytes === undefined ? {} : { targetFileSize: `${targetFileBytes / 1000}KB` }),
    ...(endBlock === undefined ? { finality: `${finalityMs / 1000}s` } : { endBlock }),
  }
}
