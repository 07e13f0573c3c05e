import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { SchemaPart } from '../../src/job/fields/field-type.ts'
import { FIELD_PATHS, FIELDS, type FieldPath } from '../../src/job/fields/fields.ts'
import { jobSchema } from '../../src/job/job-schema.ts'
import { A, jobOf } from './helpers.ts'

test('the packaged schema is generated from the table of fields', async () => {
  const shipped = JSON.parse(await readFile('jobs/job.schema.json', 'utf8'))
  expect(shipped).toEqual(jobSchema())
})

test('every shipped job names the schema', async () => {
  for (const job of ['demo', 'blocks']) {
    const text = await readFile(`jobs/examples/${job}.yaml`, 'utf8')
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=../job.schema.json')
  }
})

test('describes every field with a type, a description and examples', () => {
  for (const path of FIELD_PATHS) {
    const field = schemaOf(path)
    expect(field, path).toMatchObject({
      description: expect.stringMatching(/\.$/),
      examples: expect.any(Array),
    })
    expect(
      ['type', 'enum', 'anyOf'].some((keyword) => keyword in field),
      path,
    ).toBe(true)
  }
})

test.for(FIELD_PATHS)('accepts the examples and the default of %s', async (path) => {
  const field: { examples: readonly unknown[]; default?: unknown } = FIELDS[path]
  for (const value of [...field.examples, ...('default' in field ? [field.default] : [])]) {
    const beside = { 'wallets.csv': A }
    await expect(
      jobOf(JSON.stringify(jobWith(path, value)), { name: 'job.json', beside }),
    ).resolves.toBeDefined()
  }
})

test.for([
  { path: 'name', good: ['a', '0.b_c-d'], bad: ['A', '', '-a', 'a/b'] },
  { path: 'finality', good: ['0s', '500ms', '2d'], bad: ['90', '1.5h', '1w', 's'] },
  {
    path: 'service.baseUrl',
    good: ['demo', 'http://h', 'https://h:1/p'],
    bad: ['h', 'demos', 'http://u@h', 'http://h?q'],
  },
  { path: 'service.apiKeyHeader', good: ['x-key'], bad: ['x key', 'x:', ''] },
] as const)('has a pattern for $path that distinguishes valid from invalid values', ({ path, good, bad }) => {
  const pattern = new RegExp(String(schemaOf(path).pattern), 'u')
  expect(good.map((text) => pattern.test(text))).toEqual(good.map(() => true))
  expect(bad.map((text) => pattern.test(text))).toEqual(bad.map(() => false))
})

function schemaOf(path: FieldPath): SchemaPart {
  const keys = path.split('.').flatMap((name) => ['properties', name])
  return keys.reduce((part, key) => part[key] as SchemaPart, jobSchema())
}

function jobWith(path: FieldPath, value: unknown) {
  if (value === 'blocks') return { chain: 1, kind: value, startBlock: 0, endBlock: 1 }
  const chain = path === 'atomic' ? 43114 : 1
  const least = { chain, ...(path === 'addressesFile' ? {} : { addresses: [A] }) }
  const [section, name] = path.split('.')
  const isIceberg = section === 'catalog' || value === 'iceberg'
  const format = value === 'zstd' || value === 'decimal' || isIceberg ? { format: 'parquet' } : {}
  const output = section === 'store' ? { output: 's3://lake/treasury' } : {}
  const table = section === 'catalog' ? { table: 'iceberg' } : {}
  const catalog = section === 'catalog' && value !== 'files' ? { type: 'rest', uri: 'http://h' } : {}
  return {
    ...least,
    ...format,
    ...output,
    ...table,
    ...(name === undefined ? { [path]: value } : { [String(section)]: { ...catalog, [name]: value } }),
  }
}
