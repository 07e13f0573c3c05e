import type { PartitionBy } from '../../core/model/model.ts'
import { nearest } from '../../core/model/suggest.ts'
import { textOf } from '../resolve/raw-value.ts'
import { accepting, type Kind } from './field-type.ts'

/** How a table's files are laid out in folders. */
export function partitioning(): Kind<PartitionBy | 'none'> {
  return accepting({
    schema: { type: 'string', pattern: PARTITIONING.source },
    expected: 'none, day, month or blocks:<n>, n a whole number from 1',
    accept: ({ value }) =>
      typeof value === 'string' && PARTITIONING.test(value) ? (value as PartitionBy | 'none') : undefined,
    suggest: (given) => likelyPartitioning(textOf(given) ?? ''),
  })
}

const PARTITIONING = /^(none|day|month|blocks:[1-9]\d{0,11})$/

function likelyPartitioning(text: string): string | undefined {
  const blocks = /^(?:blocks?)?\W*([1-9]\d{0,11})(?:\W*blocks?)?$/i.exec(text)?.[1]
  if (blocks !== undefined) return `blocks:${blocks}`
  return nearest(text.replace(/^daily$/i, 'day').replace(/^monthly$/i, 'month'), ['none', 'day', 'month'])
}

/** A size of files as bytes: `64KB`, `256MB`, `1GB`, of 1,000 bytes a KB. */
export function fileSize(): Kind<number> {
  return accepting({
    schema: { type: 'string', pattern: FILE_SIZE.source },
    expected: 'a size such as 256MB: a whole number from 1 with KB, MB or GB',
    accept: ({ value }) => {
      const [, number, unit] = (typeof value === 'string' && FILE_SIZE.exec(value)) || []
      return number === undefined ? undefined : Number(number) * BYTES[unit as keyof typeof BYTES]
    },
    suggest: (given) => likelySize(textOf(given) ?? ''),
  })
}

/** The size whose unit is written otherwise: `256 mb`, `256M`, `256MiB`. */
function likelySize(text: string): string | undefined {
  const [, number, letter] = /^([1-9]\d{0,5})\s*([kmg])(?:i?b|bytes)?$/i.exec(text) ?? []
  return number === undefined ? undefined : `${number}${letter?.toUpperCase()}B`
}

const FILE_SIZE = /^([1-9]\d{0,5})(KB|MB|GB)$/
const BYTES = { KB: 1e3, MB: 1e6, GB: 1e9 } as const
