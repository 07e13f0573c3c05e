import type { Job } from '../../core/model/model.ts'
import type { RunStats } from '../../core/model/run-stats.ts'
import { formatDuration, formatInteger } from '../../terminal/format.ts'

/** Says what exact fees would cost, at the rate of the run so far. */
export function overBudgetNotice(
  missing: number,
  { feesBudget }: Pick<Job, 'feesBudget'>,
  { requests, startedMs }: Pick<RunStats, 'requests' | 'startedMs'>,
): string {
  const count = formatInteger(missing)
  const seconds = Math.max(0.001, (Date.now() - startedMs) / 1000)
  const time = requests === 0 ? '' : `, about ${formatDuration((missing / (requests / seconds)) * 1000)}`
  return (
    `the fees of ${count} transactions are upper bounds, because the service may list fee caps and their details ` +
    `exceed the budget of ${formatInteger(feesBudget)}; --fees exact costs ${count} requests${time}`
  )
}
