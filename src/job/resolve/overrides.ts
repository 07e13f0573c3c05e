import type { FieldPath } from '../fields/fields.ts'
import type { Layer } from './config-sources.ts'
import type { Given, GivenValue } from './raw-value.ts'

/** What the command line sets over the job file; all of it is checked like the job's own fields. */
export type JobOverrides = {
  /** Names the output folder. */
  readonly name?: string | undefined
  /** EVM chain id or blockchain id. */
  readonly chain?: string | undefined
  /** Wallets, each `0x…` or `0x…=label`. */
  readonly address?: readonly string[] | undefined
  /** First block; digits may come as text. */
  readonly startBlock?: number | string | undefined
  /** Block to stop before; digits may come as text. */
  readonly endBlock?: number | string | undefined
  /** Where the service is: an http(s) URL or `demo`. */
  readonly baseUrl?: string | undefined
  /** Folder for the files, or `s3://bucket/prefix`. */
  readonly output?: string | undefined
  /** Folder of this machine for checkpoints of outputs in object stores. @default .walletlake-state */
  readonly stateDir?: string | undefined
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

/** All of them. */
export const OVERRIDE_NAMES = Object.keys({
  ...{ name: 0, chain: 0, address: 0, startBlock: 0, endBlock: 0, baseUrl: 0, output: 0, format: 0 },
  ...{
    stateDir: 0,
    compression: 0,
    partitionBy: 0,
    targetFileSize: 0,
    concurrency: 0,
    tables: 0,
    escapeFormulas: 0,
  },
} satisfies Record<keyof JobOverrides, 0>)

/** The layer of the command line. */
export function layerOfOverrides(overrides: JobOverrides): Layer {
  return layerOf([
    ['name', '--name', overrides.name],
    ['chain', '--chain', overrides.chain],
    ['addresses', '--address', overrides.address?.map(walletOf)],
    ['startBlock', '--start-block', numeric(overrides.startBlock)],
    ['endBlock', '--end-block', numeric(overrides.endBlock)],
    ['service.baseUrl', '--base-url', overrides.baseUrl],
    ['output', '--output', overrides.output],
    ['format', '--format', overrides.format],
    ['compression', '--compression', overrides.compression],
    ['partitionBy', '--partition-by', overrides.partitionBy],
    ['targetFileSize', '--target-file-size', overrides.targetFileSize],
    ['concurrency', '--concurrency', numeric(overrides.concurrency)],
    ['tables', '--tables', overrides.tables && splitNames(overrides.tables)],
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
  value: string | number | readonly GivenValue[] | undefined,
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

/** The names in texts that may hold several, with commas between. */
export function splitNames(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.split(',').map((name) => name.trim()))
}

/** The wallet of `--address`: `0x…` or `0x…=label`. */
export function splitWallet(text: string): { address: string; label: string | null } {
  const [address = '', ...label] = text.split('=')
  return { address, label: label.length === 0 ? null : label.join('=') }
}

/** That wallet as a job's list has it. */
function walletOf(text: string): GivenValue {
  const { address, label } = splitWallet(text)
  if (label === null) return address
  const at = { field: 'addresses', place: ADDRESS_OPTION, keyPlace: ADDRESS_OPTION }
  return new Map<string, Given>([
    ['address', { ...at, value: address }],
    ['label', { ...at, value: label }],
  ])
}

const ADDRESS_OPTION = { option: '--address' }

function numeric(value: number | string | undefined): number | string | undefined {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
}
