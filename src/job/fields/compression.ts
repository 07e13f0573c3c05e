import { COMPRESSIONS, type Compression, FORMAT_NAMES } from '../../core/model/model.ts'
import { FORMATS } from '../../formats/index.ts'
import { type FieldType, oneOf } from './field-type.ts'

/** The compression of files. Which ones a format supports is checked when the job is resolved. */
export const compression = (): FieldType<Compression> => oneOf<Compression>(COMPRESSIONS)

/** Describes the compressions of each format, such as `csv: none (default) or gzip`. */
export function compressionChoices(): string[] {
  return FORMAT_NAMES.map((name) => {
    const [first, ...others] = FORMATS[name].compressions
    const last = others.pop()
    const start = [`${first} (default)`, ...others].join(', ')
    return `${name}: ${last === undefined ? start : `${start} or ${last}`}`
  })
}

/** The same in the form of option help: `csv: none, gzip; parquet: …`. */
export function compressionNames(): string {
  return FORMAT_NAMES.map((name) => `${name}: ${FORMATS[name].compressions.join(', ')}`).join('; ')
}
