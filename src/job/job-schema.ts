import { FORMAT_NAMES, type FormatName } from '../core/model/model.ts'
import { FORMATS } from '../formats/index.ts'
import type { Field, SchemaPart } from './fields/field-type.ts'
import { FIELDS } from './fields/fields.ts'
import { SECTIONS } from './fields/section-fields.ts'
import { BLOCK_TABLES } from './resolve/resolve.ts'

/** JSON Schema (2020-12) of a job file, derived from the same field table as the validation. */
export function jobSchema(): SchemaPart {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'walletlake job',
    description: 'A walletlake job: the chain, the wallets or blocks to export, and the output files.',
    ...section(topLevel(), ['chain']),
    oneOf: [walletJobRule('addresses'), walletJobRule('addressesFile'), BLOCK_JOB_RULE],
    not: { required: ['endBlock', 'finality'] },
    ...compressionRule(),
  }
}

/** Allows the compressions of the job's format; those of the default format if the job names none. */
function compressionRule(): SchemaPart {
  const allow = (format: FormatName) => ({
    properties: { compression: { enum: FORMATS[format].compressions } },
  })
  const others = FORMAT_NAMES.filter((name) => name !== FIELDS.format.default)
  return others.reduceRight<SchemaPart>(
    (otherwise, name) => ({
      if: { properties: { format: { const: name } }, required: ['format'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: allow(name),
      else: otherwise,
    }),
    allow(FIELDS.format.default),
  )
}

function walletJobRule(field: 'addresses' | 'addressesFile'): SchemaPart {
  return { properties: { kind: { const: 'wallets' } }, required: [field] }
}

const BLOCK_JOB_RULE = {
  properties: { kind: { const: 'blocks' }, tables: { items: { enum: BLOCK_TABLES } } },
  required: ['kind', 'startBlock', 'endBlock'],
}

function topLevel(): SchemaPart {
  return {
    $schema: { type: 'string', description: 'Location of this schema, for editors; walletlake ignores it.' },
    ...fieldsUnder(''),
    ...Object.fromEntries(
      Object.entries(SECTIONS).map(([name, { description }]) => [
        name,
        { description, ...section(fieldsUnder(`${name}.`), []) },
      ]),
    ),
  }
}

function section(properties: SchemaPart, required: readonly string[]): SchemaPart {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** Schemas of the fields with this prefix, keyed by their names without it. */
function fieldsUnder(prefix: string): SchemaPart {
  const named = Object.entries<Field<unknown>>(FIELDS)
    .filter(([path]) => path.startsWith(prefix) && !path.slice(prefix.length).includes('.'))
    .map(([path, field]) => [path.slice(prefix.length), fieldSchema(field)])
  return Object.fromEntries(named)
}

function fieldSchema({ description, schema, examples, ...rest }: Field<unknown>): SchemaPart {
  return { description, ...schema, ...('default' in rest ? { default: rest.default } : {}), examples }
}
