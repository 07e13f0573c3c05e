import type { FieldPath } from '../fields/fields.ts'
import type { ConfigSource } from './config-sources.ts'
import type { RawContent, RawValue } from './raw-value.ts'

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
export function sourceOfOverrides(overrides: JobOverrides): ConfigSource {
  return sourceOf([
    ['name', '--name', overrides.name],
    ['chain', '--chain', overrides.chain],
    ['addresses', '--address', overrides.address?.map(rawWallet)],
    ['startBlock', '--start-block', toNumber(overrides.startBlock)],
    ['endBlock', '--end-block', toNumber(overrides.endBlock)],
    ['service.baseUrl', '--base-url', overrides.baseUrl],
    ['output', '--output', overrides.output],
    ['format', '--format', overrides.format],
    ['compression', '--compression', overrides.compression],
    ['partitionBy', '--partition-by', overrides.partitionBy],
    ['targetFileSize', '--target-file-size', overrides.targetFileSize],
    ['concurrency', '--concurrency', toNumber(overrides.concurrency)],
    ['tables', '--tables', overrides.tables && splitNames(overrides.tables)],
  ])
}

/** The layer of the environment. A variable that is set but empty is checked, and refused, like any other. */
export function sourceOfEnv(env: NodeJS.ProcessEnv): ConfigSource {
  return sourceOf([
    ['service.baseUrl', 'WALLETLAKE_BASE_URL', env.WALLETLAKE_BASE_URL],
    ['service.apiKeyHeader', 'WALLETLAKE_API_KEY_HEADER', env.WALLETLAKE_API_KEY_HEADER],
  ])
}

type Setting = readonly [
  path: FieldPath,
  option: string,
  value: string | number | readonly RawContent[] | undefined,
]

function sourceOf(settings: readonly Setting[]): ConfigSource {
  return new Map(
    settings.flatMap(([path, option, value]) => {
      if (value === undefined) return []
      const common = { field: path, location: { option }, keyLocation: { option } }
      const items = Array.isArray(value)
        ? value.map((item: RawContent): RawValue => ({ ...common, value: item }))
        : value
      return [[path, { ...common, value: items as RawContent }] as const]
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
function rawWallet(text: string): RawContent {
  const { address, label } = splitWallet(text)
  if (label === null) return address
  const common = { field: 'addresses', location: ADDRESS_OPTION, keyLocation: ADDRESS_OPTION }
  return new Map<string, RawValue>([
    ['address', { ...common, value: address }],
    ['label', { ...common, value: label }],
  ])
}

const ADDRESS_OPTION = { option: '--address' }

function toNumber(value: number | string | undefined): number | string | undefined {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
}
