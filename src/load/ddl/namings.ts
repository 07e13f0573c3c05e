import type { Dialect } from './dialects.ts'

/** A column of a view: the other project's name, and a column name or expression of this project. */
type ViewColumn = readonly [name: string, from: string | ((dialect: Dialect) => string)]
export type ViewSource = { readonly table: string; readonly columns: readonly ViewColumn[] }
export type View = {
  readonly name: string
  /** Combined by UNION ALL; all have the same columns in the same order. */
  readonly sources: readonly ViewSource[]
  /**
   * Columns that only the other project has. They are left out, so that queries for them fail instead of returning
   * nulls.
   */
  readonly absent: readonly string[]
}
export type Naming = {
  readonly title: string
  /** Schema of the views, or the prefix of their names if the engine has no schemas. */
  readonly schema: string
  readonly views: readonly View[]
}

const sameNames = (...names: readonly string[]): ViewColumn[] => names.map((name) => [name, name])
const text =
  (expression: string) =>
  ({ toText, quote }: Dialect) =>
    toText(quote(expression))
const lower =
  (expression: string) =>
  ({ quote }: Dialect) =>
    `lower(${quote(expression)})`

const STATUS = () => 'CASE WHEN success = TRUE THEN 1 WHEN success = FALSE THEN 0 END'
const TRACE_STATUS = () => 'CASE WHEN reverted = TRUE THEN 0 ELSE 1 END'

const BLOCK = sameNames('block_timestamp', 'block_number', 'block_hash')

const bigqueryTransfers = (table: string, value: string): ViewSource => ({
  table,
  columns: [
    ...sameNames('token_address', 'from_address', 'to_address'),
    ['value', text(value)],
    ...sameNames('transaction_hash', 'log_index'),
    ...BLOCK,
  ],
})

/** Names of the public dataset `bigquery-public-data.crypto_ethereum`. */
const bigquery: Naming = {
  title: 'the public BigQuery dataset crypto_ethereum',
  schema: 'crypto_ethereum',
  views: [
    {
      name: 'transactions',
      sources: [
        {
          table: 'transactions',
          columns: [
            ['hash', 'transaction_hash'],
            ...sameNames('nonce', 'transaction_index', 'from_address', 'to_address', 'value'),
            ['gas', 'gas_limit'],
            ...sameNames('gas_price'),
            ['receipt_gas_used', 'gas_used'],
            ['receipt_status', STATUS],
            ...BLOCK,
            ...sameNames('transaction_type'),
            ['receipt_effective_gas_price', 'gas_price'],
          ],
        },
      ],
      absent: [
        'input',
        'receipt_cumulative_gas_used',
        'receipt_contract_address',
        'receipt_root',
        'max_fee_per_gas',
        'max_priority_fee_per_gas',
        'max_fee_per_blob_gas',
        'blob_versioned_hashes',
        'receipt_blob_gas_price',
        'receipt_blob_gas_used',
      ],
    },
    {
      name: 'token_transfers',
      sources: [
        bigqueryTransfers('erc20_transfers', 'value'),
        bigqueryTransfers('erc721_transfers', 'token_id'),
      ],
      absent: [],
    },
    {
      name: 'traces',
      sources: [
        {
          table: 'internal_transactions',
          columns: [
            ...sameNames('transaction_hash', 'transaction_index', 'from_address', 'to_address', 'value'),
            ['call_type', lower('internal_type')],
            ['gas', 'gas_limit'],
            ...sameNames('gas_used'),
            ['status', TRACE_STATUS],
            ['trace_id', 'internal_id'],
            ...BLOCK,
          ],
        },
      ],
      absent: ['input', 'output', 'trace_type', 'reward_type', 'subtraces', 'trace_address', 'error'],
    },
  ],
}

const cryoPosition = sameNames('block_number', 'transaction_index')
const cryoTransfer = (table: string, amount: string): View => ({
  name: table,
  sources: [
    {
      table,
      columns: [
        ...cryoPosition,
        ...sameNames('log_index', 'transaction_hash'),
        ['erc20', 'token_address'],
        ...sameNames('from_address', 'to_address', amount, 'chain_id', 'block_hash'),
      ],
    },
  ],
  absent: [],
})

/** Names of the files that cryo writes. */
const cryo: Naming = {
  title: 'cryo',
  schema: 'cryo',
  views: [
    {
      name: 'transactions',
      sources: [
        {
          table: 'transactions',
          columns: [
            ...cryoPosition,
            ...sameNames('transaction_hash', 'nonce', 'from_address', 'to_address', 'value'),
            ...sameNames(
              'gas_limit',
              'gas_used',
              'gas_price',
              'transaction_type',
              'success',
              'chain_id',
              'block_hash',
            ),
            ['timestamp', ({ toSeconds, quote }) => toSeconds(quote('block_timestamp'))],
          ],
        },
      ],
      absent: [
        'input',
        'max_priority_fee_per_gas',
        'max_fee_per_gas',
        'n_input_bytes',
        'n_input_zero_bytes',
        'n_input_nonzero_bytes',
        'n_rlp_bytes',
        'r',
        's',
        'v',
      ],
    },
    cryoTransfer('erc20_transfers', 'value'),
    cryoTransfer('erc721_transfers', 'token_id'),
    {
      name: 'traces',
      sources: [
        {
          table: 'internal_transactions',
          columns: [
            ['action_from', 'from_address'],
            ['action_to', 'to_address'],
            ['action_value', text('value')],
            ['action_gas', 'gas_limit'],
            ['action_call_type', lower('internal_type')],
            ['result_gas_used', 'gas_used'],
            ...sameNames('transaction_index', 'transaction_hash', 'block_number', 'block_hash', 'chain_id'),
          ],
        },
      ],
      absent: [
        'action_input',
        'action_init',
        'action_reward_type',
        'action_type',
        'result_output',
        'result_code',
        'result_address',
        'trace_address',
        'subtraces',
        'error',
      ],
    },
  ],
}

export const NAMINGS = { bigquery, cryo } as const satisfies Record<string, Naming>
export type NamingName = keyof typeof NAMINGS
export const NAMING_NAMES = Object.keys(NAMINGS) as NamingName[]
