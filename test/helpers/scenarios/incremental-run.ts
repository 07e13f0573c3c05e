import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { ExportError } from '../../../src/core/model/errors.ts'
import type { Job } from '../../../src/core/model/model.ts'
import { type RunOptions, run } from '../../../src/export/run.ts'
import { startCommand } from '../command.ts'
import { readManifest } from '../read-output.ts'
import { growChain, reorg } from './chain-model.ts'
import { expectVerified, publishedFolder } from './published-export.ts'
import type { IncrementalRun } from './scenario.ts'
import { jobOf, type ScenarioState } from './state.ts'

/**
 * Runs the job to its end, with an interruption if there is one. The chain can grow at the first request. The export of the
 * last run is left to the caller to verify.
 */
export async function runIncremental(
  state: ScenarioState,
  { cut: interruption, cutAt, meanwhile }: IncrementalRun,
  lookbackBlocks: number | undefined,
): Promise<void> {
  const { chainModel, listed, service, scenario } = state
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
  const isKilled = interruption === 'kill' && scenario.service.faults === 0 && state.bucket === undefined
  if (isKilled) await runAndKill(state, { onInterruption, lookbackBlocks })
  else if (interruption === 'budget')
    await runAndVerify(state, { ...options, maxRequests: cutAt }, ['BUDGET_REACHED'])
  else if (interruption === 'abort' || interruption === 'kill') {
    const stop = new AbortController()
    onInterruption(() => stop.abort())
    await runAndVerify(state, { ...options, signal: stop.signal }, ['INTERRUPTED'])
  }
  await runOnce(state, options, [])
  service.onRequest.act = () => {}
}

/** Runs the job while a reorg happens between two of its requests, and once more: the second run replaces what is stale. */
export async function runDuringReorg(state: ScenarioState, { cutAt, depth }: IncrementalRun): Promise<void> {
  const { chainModel, listed, service, finalBefore } = state
  const at = service.requests() + 1 + (cutAt % 4)
  service.onRequest.act = () => {
    if (service.requests() === at)
      reorg(chainModel, Math.max(finalBefore, chainModel.blocks.length - depth, 1), listed.runIndex)
  }
  await runAndVerify(state, {}, [])
  service.onRequest.act = () => {}
  const { coverage } = readManifest(await publishedFolder(state))
  state.end = Math.max(...coverage.map(({ toBlock }) => toBlock))
  await runOnce(state, {}, [])
}

/** Runs the job in this process. Resolves with whether it succeeded. Throws its error unless it is an expected one. */
async function runOnce(
  state: ScenarioState,
  options: RunOptions,
  expected: readonly string[],
): Promise<boolean> {
  const retry = { firstDelayMs: 1, maxDelayMs: 2, retries: 30 }
  const { jobs, code } = await run([jobOf(state)], { retry, ...options })
  const error = jobs[0]?.error
  if (error !== undefined && !(error instanceof ExportError && expected.includes(error.code))) throw error
  return code === undefined
}

/** Runs the job like `runOnce`, and verifies the export if the run succeeds. */
async function runAndVerify(...run: Parameters<typeof runOnce>): Promise<void> {
  if (await runOnce(...run)) await expectVerified(run[0], 'exit 0')
}

type KillOptions = { onInterruption: (interrupt: () => void) => void; lookbackBlocks: number | undefined }

/** Runs the built program and kills it at the request that interrupts it. */
async function runAndKill(
  state: ScenarioState,
  { onInterruption, lookbackBlocks }: KillOptions,
): Promise<void> {
  const { output, service } = state
  const job = jobOf(state)
  const file = join(output, '..', 'job.json')
  writeFileSync(file, JSON.stringify(fieldsOf(job)))
  const options = [
    ...(job.escapeFormulas ? [] : ['--no-escape-formulas']),
    ...(lookbackBlocks === undefined ? [] : ['--lookback', String(lookbackBlocks)]),
  ]
  const child = startCommand(['run', file, '--base-url', service.url, '--quiet', ...options])
  onInterruption(() => child.kill('SIGKILL'))
  const { exit, stderr } = await child.ended
  // Blocks that are added during the run lie in the future. A run that ends before the kill leaves them out.
  const isClockBehind = exit === 6 && stderr.startsWith('CLOCK_BEHIND')
  expect([exit === null || exit === 0 || isClockBehind, stderr]).toEqual([true, stderr])
  if (exit === 0) await expectVerified(state, 'exit 0 of the program')
}

/** The job as a job file states it. */
function fieldsOf(job: Job): object {
  const { name, chain, tables, format, compression, output, maxRowsPerFile, partitionBy } = job
  const { startBlock, endBlock, nativeSymbol, targetFileBytes, concurrency, keepRaw, finalityMs } = job
  return {
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
    fees: job.fees,
    addresses: job.wallets.map(({ address, label }) => (label === null ? address : { address, label })),
    startBlock,
    ...(nativeSymbol === null ? {} : { nativeSymbol }),
    ...(targetFileBytes === undefined ? {} : { targetFileSize: `${targetFileBytes / 1000}KB` }),
    ...(endBlock === undefined ? { finality: `${finalityMs / 1000}s` } : { endBlock }),
  }
}
