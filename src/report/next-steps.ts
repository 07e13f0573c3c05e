import type { Job } from '../core/model.ts'
import { nameOfOutput } from '../store/place.ts'
import { shellWord } from './shell-word.ts'

/** What to do with an export, as lines to copy; none of them asks the service again. `program` is how it was started. */
export function nextSteps(job: Job, program: string): string[] {
  const { service, tables } = job
  const folder = shellWord(nameOfOutput(job))
  const lines = [
    `${program} verify ${folder}`,
    `${program} load ${folder} --to duckdb:${DATABASE}`,
    `duckdb ${DATABASE} "${queryOf(tables)}"`,
    ...(service.baseUrl === 'demo' ? [`${program} init    # a job of your own`] : []),
  ]
  return ['Next:', ...lines.map((line) => `  ${line}`)]
}

const DATABASE = 'lake.db'

/** BIGNUM sums 256-bit numbers exactly. */
function queryOf([first, ...more]: Job['tables']): string {
  return [first, ...more].includes('ledger')
    ? 'FROM ledger SELECT asset_symbol,sum(value::BIGNUM) GROUP BY 1'
    : `FROM ${first} LIMIT 10`
}
