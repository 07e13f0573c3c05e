import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MANIFEST_FILE, type Manifest } from '../core/manifest.ts'
import { TABLE_NAMES } from '../core/table/index.ts'
import { type Findings, shown } from './findings.ts'
import {
  count,
  countOrNull,
  exactly,
  fields,
  list,
  oneOf,
  optional,
  sha256,
  text,
  that,
  truth,
} from './shape.ts'

/** Reads and checks the manifest's shape; undefined where nothing else can be checked by it. */
export async function readManifest(folder: string, findings: Findings): Promise<Manifest | undefined> {
  const content = await readFile(join(folder, MANIFEST_FILE), 'utf8').catch(failureCode)
  if (!findings.expect(typeof content === 'string', () => `manifest.json: cannot be read (${content})`))
    return
  const parsed = parse(content as string)
  if (!findings.expect(parsed !== undefined, () => 'manifest.json: expected JSON, found something else'))
    return
  const problems = [...MANIFEST(parsed, '')]
  findings.expect(problems.length === 0, () => 'manifest.json: does not have the shape of version 1')
  for (const { path, expected, found } of problems) {
    findings.problem(`manifest.json: ${path || 'the whole'}: expected ${expected}, found ${shown(found)}`)
  }
  return problems.length === 0 ? (parsed as Manifest) : undefined
}

function failureCode(thrown: NodeJS.ErrnoException): { code: string; toString(): string } {
  const code = thrown.code ?? thrown.message
  return { code, toString: () => code }
}

function parse(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    return undefined
  }
}

const RANGE = { fromBlock: count, toBlock: count }
const FILE = fields({ path: text, rows: count, bytes: count, sha256, ...RANGE })
const TABLE = fields({
  rows: count,
  columns: list(fields({ name: text, type: text, nullable: truth })),
  files: list(FILE),
})

const textOrNull = that('text, or null', (value) => typeof value === 'string' || value === null)
const COVERAGE = fields({
  ...{ address: text, ...RANGE, transactions: count },
  ...{ label: optional(textOrNull), removed: optional(exactly(true)) },
})

const MANIFEST = fields({
  manifestVersion: exactly(1),
  schemaVersion: exactly(1),
  generator: that(
    '"walletlake <version>"',
    (value) => typeof value === 'string' && /^walletlake \S+$/.test(value),
  ),
  job: fields({
    name: text,
    kind: optional(exactly('blocks')),
    chain: text,
    startBlock: count,
    endBlock: countOrNull,
    format: oneOf('csv', 'parquet'),
    compression: oneOf('none', 'gzip', 'zstd', 'snappy'),
    addresses: count,
    addressesSha256: sha256,
    nativeSymbol: optional(textOrNull),
    escapeFormulas: optional(truth),
    partitionBy: that('day, month or blocks:<n>, or nothing', isPartitioning),
  }),
  coverage: list(COVERAGE),
  blocks: optional(fields({ ...RANGE, missing: list(fields(RANGE)) })),
  tables: function* check(value, path) {
    yield* that('an object', (given) => typeof given === 'object' && given !== null)(value, path)
    for (const [name, table] of Object.entries(value ?? {})) {
      yield* that(`a table of ${TABLE_NAMES.join(', ')}`, () => isTableName(name))(name, `${path}.${name}`)
      yield* TABLE(table, `${path}.${name}`)
    }
  },
  rejects: count,
})

function isPartitioning(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && /^(day|month|blocks:[1-9]\d*)$/.test(value))
}

function isTableName(name: string): boolean {
  return TABLE_NAMES.some((known) => known === name)
}
