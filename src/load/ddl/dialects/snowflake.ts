import { quoteIdentifier, quoteLiteral as standardLiteral } from '../../../core/platform/sql.ts'
import { type Dialect, declareNotNull } from '../dialect.ts'

const types = {
  text: 'VARCHAR',
  int32: 'NUMBER(10,0)',
  int64: 'NUMBER(19,0)',
  bool: 'BOOLEAN',
  time: 'TIMESTAMP_NTZ(3)',
  u256: 'VARCHAR(78)',
  i256: 'VARCHAR(79)',
  decimal: 'VARCHAR',
} as const

const BIG_INTEGER_LIMIT =
  'Decimal digits as text, because NUMBER has only 38 digits; TRY_TO_NUMBER(x, 38, 0) returns null for larger values.'

/** Names are unquoted where possible, so that they match in any letter case. Keys are not enforced. */
export const snowflake: Dialect = {
  title: 'Snowflake',
  types,
  limits: {
    u256: BIG_INTEGER_LIMIT,
    i256: BIG_INTEGER_LIMIT,
    decimal: 'Decimal digits as text, because NUMBER has only 38 digits.',
    time: 'UTC without a time zone: set the time zone of the session to UTC before loading.',
  },
  declare: declareNotNull(types),
  quote: (name) =>
    RESERVED.has(name) || !PLAIN_IDENTIFIER.test(name) ? quoteIdentifier(name.toUpperCase()) : name,
  literal,
  comments: 'inline',
  inline: (text) => ` COMMENT ${literal(text)}`,
  keyClause: (columns) => `PRIMARY KEY (${columns})`,
  tableSuffix: ({ comment }) => `\nCOMMENT = ${literal(comment)}`,
  defaultSchema: 'public',
  createSchema: (schema) => `CREATE SCHEMA IF NOT EXISTS ${schema}`,
  createView: 'CREATE OR REPLACE VIEW',
  toText: (expression) => `TO_VARCHAR(${expression})`,
  toSeconds: (expression) => `DATE_PART(EPOCH_SECOND, ${expression})`,
}

/** Formats a literal. Snowflake interprets backslashes in literals. */
function literal(text: string): string {
  return standardLiteral(text.replaceAll('\\', '\\\\'))
}

const PLAIN_IDENTIFIER = /^[a-z_][a-z0-9_]*$/

/** Reserved words of Snowflake (its documentation, "Reserved & limited keywords") that must be quoted as names. */
const RESERVED: ReadonlySet<string> = new Set(
  `account all alter and any as between by case cast check column connect connection constraint create cross
  current current_date current_time current_timestamp current_user database delete distinct drop else exists
  false following for from full grant group gscluster having ilike in increment inner insert intersect into is
  issue join lateral left like localtime localtimestamp minus natural not null of on or order organization
  qualify regexp revoke right rlike row rows sample schema select set some start table tablesample then to
  trigger true try_cast union unique update using values view when whenever where with`.split(/\s+/),
)
