import type { Command } from '../command.ts'

/** The commands in the order of the help. Each is loaded on demand, because loading all takes longer than most of them. */
export const COMMANDS: Readonly<Record<string, () => Promise<{ readonly command: Command }>>> = {
  demo: () => import('./demo.ts'),
  init: () => import('./init.ts'),
  run: () => import('./run.ts'),
  worker: () => import('./worker.ts'),
  plan: () => import('./plan.ts'),
  validate: () => import('./validate.ts'),
  status: () => import('./status.ts'),
  verify: () => import('./verify.ts'),
  balances: () => import('./balances.ts'),
  convert: () => import('./convert.ts'),
  prices: () => import('./prices.ts'),
  statement: () => import('./statement.ts'),
  report: () => import('./report.ts'),
  query: () => import('./query.ts'),
  compact: () => import('./compact.ts'),
  expire: () => import('./expire.ts'),
  load: () => import('./load.ts'),
  audit: () => import('./audit.ts'),
  reconcile: () => import('./reconcile.ts'),
  reindex: () => import('./reindex.ts'),
  watch: () => import('./watch.ts'),
  webhooks: () => import('./webhooks.ts'),
  schema: () => import('./schema.ts'),
  serve: () => import('./serve.ts'),
}
