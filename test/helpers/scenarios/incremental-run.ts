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

/** Runs tonight's job to its end, with what comes between; the chain may grow as the first request comes. */
export async function runIncremental(
  state: ScenarioState,
  { cut: interruption, cutAt, meanwhile }: IncrementalRun,
  lookbackBlocks: number | undefined,
): Promise<void> {
  const { chainModel, listed, service, scenario } = state
  const job = jobOf(state)
  const options = lookbackBlocks === undefined ? {} : { lookbackBlocks }
  const [first, last] = [service.requests() + 1, service.requests() + cutAt]
  const onInterruption = (interrupt: () => void) => {
    service.onRequest.act = () => {
      if (service.requests() === first)
        growChain(chainModel, { blocks: meanwhile, runIndex: listed.runIndex, inFuture: true })
      if (service.requests() === last) interrupt()
    }
  }
  onInterruption(() => {})
  if (interruption === 'kill' && scenario.service.faults === 0)
    await runAndKill(state, job, { onInterruption, lookbackBlocks })
  else if (interruption === 'budget')
    await runOnce(job, { ...options, maxRequests: cutAt }, ['BUDGET_REACHED'])
  else if (interruption === 'abort') {
    const stop = new AbortController()
    onInterruption(() => stop.abort())
    await runOnce(job, { ...options, signal: stop.signal }, ['INTERRUPTED'])
  }
  await runOnce(job, options, [])
  service.onRequest.act = () => {}
}

/** Runs the job while the chain is reorganised between two of its requests, and once more: that run finds what is stale. */
export async function runDuringReorg(state: ScenarioState, { cutAt, depth }: IncrementalRun): Promise<void> {
  const { chainModel, listed, service, finalBefore } = state
  const job = jobOf(state)
  const at = service.requests() + 1 + (cutAt % 4)
  service.onRequest.act = () => {
    if (service.requests() === at)
      reorg(chainModel, Math.max(finalBefore, chainModel.blocks.length - depth, 1), listed.runIndex)
  }
  await runOnce(job, {}, [])
  service.onRequest.act = () => {}
  state.end = Math.max(...readManifest(job.output).coverage.map(({ toBlock }) => toBlock))
  await runOnce(job, {}, [])
}

/** Runs the job here; a failure is thrown unless it is one of these. */
async function runOnce(job: Job, options: RunOptions, expected: readonly string[]): Promise<void> {
  const { jobs } = await run([job], { retry: { firstDelayMs: 1, maxDelayMs: 2, retries: 30 }, ...options })
  const error = jobs[0]?.error
  if (error !== undefined && !(error instanceof ExportError && expected.includes(error.code))) throw error
}

type KillOptions = { onInterruption: (interrupt: () => void) => void; lookbackBlocks: number | undefined }

/** Runs the built program and kills it when the service has got so many requests. */
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
  // Young blocks lie in the future: a run that ends before it is killed leaves them out.
  const isClockBehind = exit === 6 && stderr.startsWith('CLOCK_BEHIND')
  expect([exit === null || exit === 0 || isClockBehind, stderr]).toEqual([true, stderr])
}

/** A job as its file has it. */
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
