import type { FieldPath } from './fields.ts'
import type { Given, GivenValue } from './given.ts'
import type { Layer } from './layers.ts'

/** What the command line sets over the job file; all of it is checked like the job's own fields. */
export type JobOverrides = {
  /** Where the service is: an http(s) URL or `demo`. */
  readonly baseUrl?: string | undefined
  /** Folder for the files. */
  readonly output?: string | undefined
  /** `csv` or `parquet`. */
  readonly format?: string | undefined
  /** One that the format has. */
  readonly compression?: string | undefined
  /** `none`, `day`, `month` or `blocks:<n>`. */
  readonly partitionBy?: string | undefined
  /** Size of a file's lines before compression, such as `256MB`. */
  readonly targetFileSize?: string | undefined
  /** Requests in flight, 1 to 256; digits may come as text. */
  readonly concurrency?: number | string | undefined
  /** Table names; one text may hold several, with commas between. */
  readonly tables?: readonly string[] | undefined
  /** Guard text cells that a spreadsheet would run. @default true */
  readonly escapeFormulas?: boolean | undefined
}

/** The layer of the command line. */
export function layerOfOverrides(overrides: JobOverrides): Layer {
  return layerOf([
    ['service.baseUrl', '--base-url', overrides.baseUrl],
    ['output', '--output', overrides.output],
    ['format', '--format', overrides.format],
    ['compression', '--compression', overrides.compression],
    ['partitionBy', '--partition-by', overrides.partitionBy],
    ['targetFileSize', '--target-file-size', overrides.targetFileSize],
    ['concurrency', '--concurrency', numeric(overrides.concurrency)],
    ['tables', '--tables', overrides.tables?.flatMap((names) => names.split(',').map((name) => name.trim()))],
  ])
}

/** The layer of the environment. A variable that is set but empty is checked, and refused, like any other. */
export function layerOfEnv(env: NodeJS.ProcessEnv): Layer {
  return layerOf([
    ['service.baseUrl', 'WALLETLAKE_BASE_URL', env.WALLETLAKE_BASE_URL],
    ['service.apiKeyHeader', 'WALLETLAKE_API_KEY_HEADER', env.WALLETLAKE_API_KEY_HEADER],
  ])
}

type Setting = readonly [
  path: FieldPath,
  option: string,
  value: string | number | readonly string[] | undefined,
]

function layerOf(settings: readonly Setting[]): Layer {
  return new Map(
    settings.flatMap(([path, option, value]) => {
      if (value === undefined) return []
      const at = { field: path, place: { option }, keyPlace: { option } }
      const items = Array.isArray(value)
        ? value.map((item: GivenValue): Given => ({ ...at, value: item }))
        : value
      return [[path, { ...at, value: items as GivenValue }] as const]
    }),
  )
}

function numeric(value: number | string | undefined): number | string | undefined {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
}
