import * as v from 'valibot'
import type { PartitionBy } from '../../core/model/model.ts'
import { suggest } from '../../core/model/suggest.ts'
import { textOf } from '../resolve/raw-value.ts'
import { type FieldType, fieldType } from './field-type.ts'

/** Partitioning of the files of a table into folders. */
export function partitioning(): FieldType<PartitionBy | 'none'> {
  return fieldType({
    schema: { type: 'string', pattern: PARTITIONING.source },
    parsed: v.custom<PartitionBy | 'none'>((value) => typeof value === 'string' && PARTITIONING.test(value)),
    expected: 'none, day, month or blocks:<n>, n a whole number from 1',
    suggest: (raw) => suggestPartitioning(textOf(raw) ?? ''),
  })
}

const PARTITIONING = /^(none|day|month|blocks:[1-9]\d{0,11})$/

function suggestPartitioning(text: string): string | undefined {
  const blocks = /^(?:blocks?)?\W*([1-9]\d{0,11})(?:\W*blocks?)?$/i.exec(text)?.[1]
  if (blocks !== undefined) return `blocks:${blocks}`
  return suggest(text.replace(/^daily$/i, 'day').replace(/^monthly$/i, 'month'), ['none', 'day', 'month'])
}

/** A file size such as `64KB`, `256MB` or `1GB`, parsed to bytes (1 KB = 1,000 bytes). */
export function fileSize(): FieldType<number, string> {
  return fieldType({
    schema: { type: 'string', pattern: FILE_SIZE.source },
    parsed: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
    expected: 'a size such as 256MB: a whole number from 1 with KB, MB or GB',
    accept: ({ value }) => {
      const [, number, unit] = (typeof value === 'string' && FILE_SIZE.exec(value)) || []
      return number === undefined ? undefined : Number(number) * UNIT_BYTES[unit as keyof typeof UNIT_BYTES]
    },
    suggest: (raw) => suggestFileSize(textOf(raw) ?? ''),
  })
}

/** Suggests the size for other spellings of the unit: `256 mb`, `256M`, `256MiB`. */
function suggestFileSize(text: string): string | undefined {
  const [, number, prefix] = /^([1-9]\d{0,5})\s*([kmg])(?:i?b|bytes)?$/i.exec(text) ?? []
  return number === undefined ? undefined : `${number}${prefix?.toUpperCase()}B`
}

const FILE_SIZE = /^([1-9]\d{0,5})(KB|MB|GB)$/
const UNIT_BYTES = { KB: 1e3, MB: 1e6, GB: 1e9 } as const
