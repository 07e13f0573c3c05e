import { expect, test } from 'vitest'
import { command as run } from '../../../src/cli/commands/run.ts'
import { FIELD_PATHS, FIELDS } from '../../../src/job/fields/fields.ts'

const fieldOptions = FIELD_PATHS.flatMap((path) => {
  const field = FIELDS[path]
  return 'option' in field ? [field.option] : []
})

test.for(fieldOptions)('run has the option --$name of a field', (option) => {
  const { name, description } = option
  const value = 'value' in option ? { value: option.value } : {}
  const prefix = 'inline' in option ? 'Without a job file: ' : ''
  const repeatable = 'repeatable' in option ? { repeatable: true } : {}
  expect(run.options.filter((one) => one.name === name)).toEqual([
    expect.objectContaining({ name, ...value, ...repeatable }),
  ])
  const shown = run.options.find((one) => one.name === name)?.description ?? ''
  expect(shown.replace(/ \(default: \S+\)$/, '')).toBe(
    `${prefix}${description}`.replace(/ \(default: \S+\)$/, ''),
  )
})

test('the help of run states the default of an option whose field has one', () => {
  const description = run.options.find(({ name }) => name === 'format')?.description
  expect(description).toBe('File format: csv, parquet (default: csv)')
})
