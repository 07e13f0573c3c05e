import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import type { Field } from '../../../src/job/fields/field-type.ts'
import { FIELD_PATHS, FIELDS } from '../../../src/job/fields/fields.ts'
import { SECTIONS } from '../../../src/job/fields/section-fields.ts'
import type { JobOverrides } from '../../../src/job/read-job.ts'
import {
  OVERRIDE_NAMES,
  sourceOfDefaults,
  sourceOfEnv,
  sourceOfOverrides,
} from '../../../src/job/resolve/overrides.ts'
import { parseSources } from '../../../src/job/resolve/settings.ts'
import { LEAST, refusalOf } from '../helpers.ts'

const fields = FIELD_PATHS.map((path): Field<unknown> & { path: typeof path } => ({ path, ...FIELDS[path] }))
const camelCase = (name: string) => name.replaceAll(/-./g, (mark) => mark.slice(1).toUpperCase())

const overridden = fields.flatMap(({ path, option }) =>
  option === undefined ? [] : [{ path, option, property: camelCase(option.name) }],
)

test('all overrides are options of fields, except for two', () => {
  expect(overridden.length).toBeGreaterThan(10)
  const properties = overridden.map(({ property }) => property)
  expect(OVERRIDE_NAMES.toSorted()).toEqual([...properties, 'stateDir', 'escapeFormulas'].sort())
})

test('every option has a typed override', () => {
  type CamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}`
    ? `${Head}${Capitalize<CamelCase<Tail>>}`
    : Name
  type Fields = (typeof FIELDS)[keyof typeof FIELDS]
  type OptionName = Extract<Fields, { option: unknown }>['option']['name']
  expectTypeOf<keyof JobOverrides>().toEqualTypeOf<CamelCase<OptionName> | 'stateDir' | 'escapeFormulas'>()
})

test.for(overridden)('--$option.name sets $path, and is named if its value is wrong', async (field) => {
  const { path, option, property } = field
  const overrides = { [property]: option.repeatable ? ['\u0007'] : '\u0007' }
  expect([...sourceOfOverrides(overrides).keys()]).toEqual([path])
  const { message } = await refusalOf(LEAST, { overrides })
  expect(message).toMatch(new RegExp(`^--${option.name}: found `))
})

test.for(fields.flatMap(({ path, variable }) => (variable === undefined ? [] : [{ path, variable }])))(
  '$variable sets $path, and is named if its value is wrong',
  async ({ path, variable }) => {
    const env = { [variable]: '\u0007' }
    expect([...sourceOfEnv(env).keys()]).toEqual([path])
    const { message } = await refusalOf(LEAST, { env })
    expect(message).toMatch(new RegExp(`^${variable}: found `))
  },
)

const named = [
  ...fields,
  ...Object.entries(SECTIONS).map(([path, section]) => ({ path, synonyms: undefined, ...section })),
]

test.for(named.filter(({ synonyms }) => synonyms !== undefined))(
  'every synonym of $path suggests it',
  async ({ path, synonyms = '' }) => {
    const { message } = await refusalOf(
      synonyms
        .split(' ')
        .map((word) => `${word}: 1\n`)
        .join(''),
    )
    for (const word of synonyms.split(' ')) {
      const line = message.split('\n').find((text) => text.includes(`found the key "${word}"`))
      expect(line).toContain(`(did you mean "${path}"?)`)
    }
  },
)

describe('a parsed default', () => {
  const defaults = parseSources([sourceOfDefaults()], (diagnostic) => {
    throw new Error(JSON.stringify(diagnostic))
  })

  test.for(FIELD_PATHS.filter((path) => 'default' in FIELDS[path]))(
    'of %s has the declared shape',
    (path) => {
      const { parsed }: Field<unknown> = FIELDS[path]
      expect(v.is(parsed, defaults[path]?.value)).toBe(true)
      expect(v.is(parsed, { not: 'a value' })).toBe(false)
    },
  )
})
