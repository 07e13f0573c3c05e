import { OPTION, type OptionCheck } from '../core/model/call-options.ts'
import { ExportError } from '../core/model/errors.ts'
import type { Job } from '../core/model/model.ts'
import { selectTables } from '../core/table/select-tables.ts'

/** Options that `run` and `rows` share. */
export const SHARED_OPTIONS = {
  apiKey: OPTION.text,
  allowPlainHttp: OPTION.flag,
  signal: OPTION.signal,
  retry: OPTION.object,
  onDetail: OPTION.listener,
} as const satisfies Record<string, OptionCheck>

/**
 * Throws USAGE if the value is not a job, for example if it is the argument of `defineJob` instead of its
 * result.
 */
export function requireJob(value: unknown): asserts value is Job {
  const { name, file, chain, output, wallets, tables, service } = (value ?? {}) as Partial<Job>
  const areStrings = [name, file, chain, output].every((text) => typeof text === 'string')
  const areLists = Array.isArray(wallets) && Array.isArray(tables)
  if (areStrings && areLists && typeof service === 'object') return void selectTables(tables, { where: file })
  throw new ExportError('USAGE', 'the argument is not a job', {
    fix: 'Create it with await defineJob({ … }), or await readJob(file, { overrides: {}, env: process.env }).',
  })
}
