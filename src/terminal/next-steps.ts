import type { Job } from '../core/model/model.ts'
import { outputName } from '../storage/bucket-url.ts'
import { shellQuote } from './shell-quote.ts'

/**
 * Commands to try with an export. None of them sends requests to the service.
 *
 * @param program Command with which the user started this program.
 */
export function nextSteps(job: Job, program: string): string[] {
  const { service, tables } = job
  const folder = shellQuote(outputName(job))
  const lines = [
    `${program} verify ${folder}`,
    tables.includes('ledger')
      ? `${program} balances ${folder}`
      : `${program} query ${folder} "FROM ${tables[0]} LIMIT 10"`,
    `${program} load ${folder} --to duckdb:lake.db`,
    ...(service.baseUrl === 'demo' ? [`${program} init    # a job of your own`] : []),
  ]
  return ['Next:', ...lines.map((line) => `  ${line}`)]
}
