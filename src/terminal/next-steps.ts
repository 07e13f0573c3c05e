import type { Job } from '../core/model/model.ts'
import { outputName } from '../storage/bucket-url.ts'
import { shellQuote } from './shell-quote.ts'

/** What to do with an export, as lines to copy; none of them asks the service again. `program` is how it was started. */
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
