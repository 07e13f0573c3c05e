import { col, ours, PARTIES, PREFIX, type Table } from './column.ts'

export const transactions = {
  name: 'transactions',
  about: 'One row a transaction that touches a wallet of the job.',
  key: ['chain_id', 'transaction_hash'],
  columns: [
    ...PREFIX,
    col('transaction_type int32?', 'Envelope type: 0 legacy, 1 access list, 2 dynamic fee.'),
    col('status text?', "The service's status code as it answered."),
    col(
      'success bool?',
      'True where status says success (1, 0x1, true, success), false for failure, null otherwise.',
    ),
    col('nonce int64?', 'Nonce of the sender.'),
    ...PARTIES,
    col('value u256', 'Native coin moved, in the smallest unit (wei).'),
    col('gas_limit int64?', 'Gas allowed.'),
    col('gas_used int64?', 'Gas used.'),
    col('gas_price u256?', 'Price of one gas in the smallest unit.'),
    col('transaction_fee u256?', 'gas_used × gas_price, exact; null where one of them is.'),
    col(
      'call_type text?',
      'NATIVE_TRANSFER, CONTRACT_CALL, CONTRACT_CREATION or what else the service says.',
    ),
    col('method_id text?', 'Selector of the called method.'),
    col('method_name text?', "Signature of the called method (strangers' text)."),
    col('block_min_delay_excess int64?', "The block's delay-excess value, where the chain has one."),
  ],
} as const satisfies Table

export const erc20Transfers = {
  name: 'erc20_transfers',
  about: 'One row an ERC-20 Transfer event that touches a wallet of the job.',
  key: ['chain_id', 'transaction_hash', 'log_index'],
  columns: [
    ...PREFIX,
    col('log_index int32', 'Position of the event in its block.'),
    col('token_address text', 'Contract of the token, lower case.'),
    col('token_name text?', "Name of the token (strangers' text)."),
    col('token_symbol text?', "Symbol of the token (strangers' text)."),
    col('token_decimals int32?', 'Decimals of the token.'),
    ...PARTIES,
    col('value u256', 'Amount in the smallest unit of the token.'),
    col(
      'amount decimal?',
      'value / 10^token_decimals, exact; null where decimals are unknown or not in 0..255.',
    ),
    col('price_currency text?', 'Currency of price_value, as the service answered.'),
    col('price_value decimal?', "Price as the service answered when asked, not at the transaction's time."),
  ],
} as const satisfies Table

const METADATA_TEXTS = [
  col('metadata_index_status text?', 'State of the metadata at the service.'),
  col('metadata_updated_at time?', 'When the service last read the metadata, UTC.'),
  col('metadata_name text?', "Name of the token in its metadata (strangers' text)."),
  col('metadata_symbol text?', "Symbol of the token in its metadata (strangers' text)."),
  col('metadata_description text?', "Description in the metadata (strangers' text)."),
  col('metadata_image_uri text?', "Image in the metadata (strangers' text)."),
  col('metadata_animation_uri text?', "Animation in the metadata (strangers' text)."),
  col('metadata_external_url text?', "Link in the metadata (strangers' text)."),
  col('metadata_background text?', "Background in the metadata (strangers' text)."),
] as const

export const erc721Transfers = {
  name: 'erc721_transfers',
  about: 'One row an ERC-721 Transfer event that touches a wallet of the job.',
  key: ['chain_id', 'transaction_hash', 'log_index'],
  columns: [
    ...PREFIX,
    col('log_index int32', 'Position of the event in its block.'),
    col('token_address text', 'Contract of the token, lower case.'),
    col('token_name text?', "Name of the collection (strangers' text)."),
    col('token_symbol text?', "Symbol of the collection (strangers' text)."),
    col('token_id u256', 'Id of the token.'),
    col('token_uri text?', "URI of the token's metadata (strangers' text)."),
    col('owner_address text?', 'Owner when the service was asked, not at the time of the transaction.'),
    ...PARTIES,
    ...METADATA_TEXTS,
    col('metadata_attributes text?', "Attributes in the metadata (strangers' text)."),
  ],
} as const satisfies Table

export const erc1155Transfers = {
  name: 'erc1155_transfers',
  about: 'One row an entry of an ERC-1155 single or batch transfer that touches a wallet of the job.',
  key: ['chain_id', 'transaction_hash', 'log_index', 'transfer_ordinal'],
  columns: [
    ...PREFIX,
    col('log_index int32', 'Position of the event in its block.'),
    col('transfer_ordinal int32', 'Position among the entries of one event, from 0.'),
    col('token_address text', 'Contract of the token, lower case.'),
    col('token_id u256', 'Id of the token.'),
    col('token_uri text?', "URI of the token's metadata (strangers' text)."),
    ...PARTIES,
    col('value u256', 'Amount moved, whole units.'),
    ...METADATA_TEXTS,
    col('metadata_decimals int32?', 'Decimals in the metadata.'),
    col('metadata_properties text?', "Properties in the metadata (strangers' text)."),
  ],
} as const satisfies Table

export const internalTransactions = {
  name: 'internal_transactions',
  about:
    'One row an internal transaction (call or creation inside a transaction) that touches a wallet of the job.',
  key: ['chain_id', 'transaction_hash', 'internal_id'],
  columns: [
    ...PREFIX,
    ours(
      'internal_id text',
      'Hash of from, to and value, then the occurrence: internal transactions have no index.',
    ),
    col(
      'internal_type text?',
      'CALL, CREATE, CREATE2, CALLCODE, DELEGATECALL, STATICCALL, UNKNOWN or other.',
    ),
    ...PARTIES,
    col('value u256', 'Native coin moved, in the smallest unit (wei).'),
    col('reverted bool', 'True where it was undone and moved nothing.'),
    col('gas_limit int64?', 'Gas allowed.'),
    col('gas_used int64?', 'Gas used.'),
  ],
} as const satisfies Table
