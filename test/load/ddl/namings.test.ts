import { describe, expect, test } from 'vitest'
import { TABLES } from '../../../src/core/table/index.ts'
import { NAMINGS } from '../../../src/load/ddl/namings.ts'

const names = (text: string) => text.trim().split(/\s+/)

/**
 * Columns of the public dataset `bigquery-public-data.crypto_ethereum` (schemas of blockchain-etl/ethereum-etl-airflow)
 * and of cryo's datasets with their optional columns (paradigmxyz/cryo).
 */
const THEIRS = {
  bigquery: {
    transactions: names(`hash nonce transaction_index from_address to_address value gas gas_price input
      receipt_cumulative_gas_used receipt_gas_used receipt_contract_address receipt_root receipt_status block_timestamp
      block_number block_hash max_fee_per_gas max_priority_fee_per_gas transaction_type receipt_effective_gas_price
      max_fee_per_blob_gas blob_versioned_hashes receipt_blob_gas_price receipt_blob_gas_used`),
    token_transfers:
      names(`token_address from_address to_address value transaction_hash log_index block_timestamp
      block_number block_hash`),
    traces:
      names(`transaction_hash transaction_index from_address to_address value input output trace_type call_type
      reward_type gas gas_used subtraces trace_address error status trace_id block_timestamp block_number block_hash`),
  },
  cryo: {
    transactions:
      names(`block_number transaction_index transaction_hash nonce from_address to_address value input
      gas_limit gas_used gas_price transaction_type max_priority_fee_per_gas max_fee_per_gas success n_input_bytes
      n_input_zero_bytes n_input_nonzero_bytes chain_id n_rlp_bytes block_hash timestamp r s v`),
    erc20_transfers:
      names(`block_number transaction_index log_index transaction_hash erc20 from_address to_address
      value chain_id block_hash`),
    erc721_transfers:
      names(`block_number transaction_index log_index transaction_hash erc20 from_address to_address
      token_id chain_id block_hash`),
    traces: names(`action_from action_to action_value action_gas action_input action_call_type action_init
      action_reward_type action_type result_gas_used result_output result_code result_address trace_address subtraces
      transaction_index transaction_hash block_number block_hash error chain_id`),
  },
} as const

describe.for(['bigquery', 'cryo'] as const)('the column names of %s', (naming) => {
  const theirs: Record<string, readonly string[]> = THEIRS[naming]

  test('are complete: each is either in a view or listed as absent', () => {
    expect(NAMINGS[naming].views.map(({ name }) => name)).toEqual(Object.keys(theirs))
    for (const { name, sources, absent } of NAMINGS[naming].views) {
      for (const { columns } of sources) {
        const ours = columns.map(([column]) => column)
        expect([...ours, ...absent].sort()).toEqual([...(theirs[name] ?? [])].sort())
      }
    }
  })

  test('refer to existing columns', () => {
    for (const { table, columns } of NAMINGS[naming].views.flatMap(({ sources }) => sources)) {
      const own = TABLES.find(({ name }) => name === table)?.columns.map(({ name }) => name) ?? []
      for (const [, from] of columns) if (typeof from === 'string') expect(own).toContain(from)
    }
  })
})
