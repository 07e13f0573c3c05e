import { APIS } from '../core/model/api.ts'
import { OPTION, type OptionCheck } from '../core/model/call-options.ts'
import { ExportError } from '../core/model/errors.ts'
import type { Job } from '../core/model/model.ts'
import { selectTables } from '../core/table/select-tables.ts'
import { sourceOf } from '../sources/index.ts'
import type { Source } from '../sources/source.ts'

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

/** Settings of a job that not every API offers. */
const FEATURES: readonly {
  setting: string
  /** The option that sets it. */
  option?: string
  isSet: (job: Job) => boolean
  isOffered: (source: Source) => boolean
}[] = [
  {
    setting: 'kind: blocks',
    isSet: ({ kind }) => kind === 'blocks',
    isOffered: ({ openBlocks }) => openBlocks !== undefined,
  },
  {
    setting: 'atomic: true',
    option: '--atomic',
    isSet: ({ atomic }) => atomic,
    isOffered: ({ openAtomic }) => openAtomic !== undefined,
  },
  {
    setting: 'internals: full',
    option: '--internals full',
    isSet: ({ kind, internals }) => kind === 'wallets' && internals === 'full',
    isOffered: ({ listsFullInternals }) => listsFullInternals === true,
  },
]

/** Throws JOB_INVALID if the job needs something that its API does not offer. */
export function requireFeatures(job: Job): void {
  const { api } = job.service
  const missing = FEATURES.find(({ isSet, isOffered }) => isSet(job) && !isOffered(sourceOf(api)))
  if (missing === undefined) return
  const { setting, option, isOffered } = missing
  const forms = option === undefined ? setting : `${setting} (${option})`
  const offering = APIS.filter((other) => isOffered(sourceOf(other)))
  throw new ExportError('JOB_INVALID', `${job.file}: the API ${api} does not offer ${setting}`, {
    fix: `Remove ${forms}, or name a service with the API ${offering.join(' or ')}: service.baseUrl and service.api (--base-url, --api).`,
  })
}
