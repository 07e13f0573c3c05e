import { col, generated, PARTIES, PREFIX, type TableDeclaration } from './column.ts'

export const transactions = {
  name: 'transactions',
  about: 'One row per transaction that involves a wallet of the job, or of an exported block.',
  key: ['chain_id', 'transaction_hash'],
  columns: [
    ...PREFIX,
    col(
      'transaction_type int32?',
      'Transaction type (EIP-2718), such as 0 (legacy), 1 (access list) or 2 (dynamic fee).',
    ),
    col('status text?', 'Status code, as the service returned it.'),
    col(
      'success bool?',
      'True if status reports success (1, 0x1, true, success), false if it reports a failure, null otherwise.',
    ),
    col('nonce int64?', 'Nonce of the sender.'),
    ...PARTIES,
    col(
      'value u256?',
      'Amount of the native coin, in the smallest unit (wei); null if the service lists only transfers or internal transactions of the transaction.',
    ),
    col('gas_limit int64?', 'Gas limit.'),
    col('gas_used int64?', 'Gas used.'),
    col('gas_price u256?', 'Price per unit of gas, in the smallest unit of the native coin (wei).'),
    col(
      'effective_gas_price u256?',
      'Price per unit of gas that was paid, in wei; null if it is not known, because gas_price may be the fee cap.',
    ),
    col(
      'transaction_fee u256?',
      'gas_used × effective_gas_price (gas_price where it is null) + other fees that the service reports, exact; null if unknown.',
    ),
    col(
      'call_type text?',
      'NATIVE_TRANSFER, CONTRACT_CALL, CONTRACT_CREATION or another value of the service.',
    ),
    col('method_id text?', 'Selector of the called method.'),
    col('method_name text?', 'Signature of the called method (untrusted text).'),
    col('block_min_delay_excess int64?', 'Delay-excess value of the block, on chains that have one.'),
    col(
      'extra_fee u256?',
      'Part of transaction_fee beyond gas (blobs, publishing on L1), 0 where it has none; null if such a part may be missing.',
    ),
  ],
} as const satisfies TableDeclaration

const TRANSFER_ID = generated(
  'transfer_id text',
  'Identifies the transfer in its transaction: the log index or, if the service has none, a hash of the content, then the occurrence number.',
)
const LOG_INDEX = col(
  'log_index int32?',
  'Position of the event in its block (log index); null if the service does not report it.',
)

export const erc20Transfers = {
  name: 'erc20_transfers',
  about: 'One row per ERC-20 Transfer event that involves a wallet of the job.',
  key: ['chain_id', 'transaction_hash', 'transfer_id'],
  columns: [
    ...PREFIX,
    TRANSFER_ID,
    LOG_INDEX,
    col('token_address text', 'Contract address of the token, in lowercase.'),
    col('token_name text?', 'Name of the token (untrusted text).'),
    col('token_symbol text?', 'Symbol of the token (untrusted text).'),
    col('token_decimals int32?', 'Number of decimals of the token.'),
    ...PARTIES,
    col('value u256', 'Amount, in the smallest unit of the token.'),
    col(
      'amount decimal?',
      'value / 10^token_decimals, exact; null if the decimals are unknown or not in 0..255.',
    ),
    col('price_currency text?', 'Currency of price_value, as the service returned it.'),
    col(
      'price_value decimal?',
      'Price at the time of the request to the service, not at the time of the transaction.',
    ),
  ],
} as const satisfies TableDeclaration

const METADATA_TEXTS = [
  col('metadata_index_status text?', 'Index status of the metadata in the service, such as INDEXED.'),
  col('metadata_updated_at time?', 'Time at which the service last updated the metadata, in UTC.'),
  col('metadata_name text?', 'Name in the metadata (untrusted text).'),
  col('metadata_symbol text?', 'Symbol in the metadata (untrusted text).'),
  col('metadata_description text?', 'Description in the metadata (untrusted text).'),
  col('metadata_image_uri text?', 'URI of the image in the metadata (untrusted text).'),
  col('metadata_animation_uri text?', 'URI of the animation in the metadata (untrusted text).'),
  col('metadata_external_url text?', 'External link in the metadata (untrusted text).'),
  col('metadata_background text?', 'Background in the metadata (untrusted text).'),
] as const

export const erc721Transfers = {
  name: 'erc721_transfers',
  about: 'One row per ERC-721 Transfer event that involves a wallet of the job.',
  key: ['chain_id', 'transaction_hash', 'transfer_id'],
  columns: [
    ...PREFIX,
    TRANSFER_ID,
    LOG_INDEX,
    col('token_address text', 'Contract address of the token, in lowercase.'),
    col('token_name text?', 'Name of the collection (untrusted text).'),
    col('token_symbol text?', 'Symbol of the collection (untrusted text).'),
    col('token_id u256', 'Token id.'),
    col('token_uri text?', 'URI of the metadata of the token (untrusted text).'),
    col(
      'owner_address text?',
      'Owner at the time of the request to the service, not at the time of the transaction.',
    ),
    ...PARTIES,
    ...METADATA_TEXTS,
    col('metadata_attributes text?', 'Attributes in the metadata (untrusted text).'),
  ],
} as const satisfies TableDeclaration

export const erc1155Transfers = {
  name: 'erc1155_transfers',
  about: 'One row per entry of an ERC-1155 single or batch transfer that involves a wallet of the job.',
  key: ['chain_id', 'transaction_hash', 'transfer_id'],
  columns: [
    ...PREFIX,
    generated(
      'transfer_id text',
      'Identifies the entry in its transaction: log index, a dot and transfer_ordinal or, if the service has no log index, a hash of the content, then the occurrence number.',
    ),
    LOG_INDEX,
    col(
      'transfer_ordinal int32?',
      'Position of the entry within its event, starting at 0; null if log_index is null.',
    ),
    col('token_address text', 'Contract address of the token, in lowercase.'),
    col('token_id u256', 'Token id.'),
    col('token_uri text?', 'URI of the metadata of the token (untrusted text).'),
    ...PARTIES,
    col('value u256', 'Quantity, as the integer in the event.'),
    ...METADATA_TEXTS,
    col('metadata_decimals int32?', 'Number of decimals in the metadata.'),
    col('metadata_properties text?', 'Properties in the metadata (untrusted text).'),
  ],
} as const satisfies TableDeclaration

export const internalTransactions = {
  name: 'internal_transactions',
  about:
    'One row per internal transaction (a call or contract creation inside a transaction) that involves a wallet of the job.',
  key: ['chain_id', 'transaction_hash', 'internal_id'],
  columns: [
    ...PREFIX,
    generated(
      'internal_id text',
      'Hash of from, to and value, then the occurrence number, because internal transactions have no index.',
    ),
    col(
      'internal_type text?',
      'CALL, CREATE, CREATE2, CALLCODE, DELEGATECALL, STATICCALL, UNKNOWN or another value of the service.',
    ),
    ...PARTIES,
    col('value u256', 'Amount of the native coin, in the smallest unit (wei).'),
    col('reverted bool', 'True if the call was reverted, so that it moved nothing.'),
    col('gas_limit int64?', 'Gas limit.'),
    col('gas_used int64?', 'Gas used.'),
  ],
} as const satisfies TableDeclaration

export const atomicTransactions = {
  name: 'atomic_transactions',
  about:
    'One row per input or output on the C-Chain of an atomic transaction (import or export) that involves a wallet of the job.',
  key: ['chain_id', 'transaction_hash', 'transfer_ordinal'],
  columns: [
    ...PREFIX,
    col('transfer_ordinal int32', 'Position among the inputs or outputs of the transaction, starting at 0.'),
    generated('transfer_type text', 'import (from the X-Chain or the P-Chain) or export (to one of them).'),
    col('from_address text?', 'Address that an export debits, in lowercase; null for an import.'),
    col('to_address text?', 'Address that an import credits, in lowercase; null for an export.'),
    col('source_chain text?', 'Blockchain id of the chain that the assets leave.'),
    col('destination_chain text?', 'Blockchain id of the chain that the assets arrive at.'),
    col('asset_id text', 'Id of the asset in the Avalanche network.'),
    col('asset_name text?', 'Name of the asset (untrusted text).'),
    col('asset_symbol text?', 'Symbol of the asset (untrusted text).'),
    col('asset_decimals int32?', 'Number of decimals of the asset: 9 for AVAX, which the ledger has in wei.'),
    col('value u256', 'Amount, in the smallest unit of the asset (nAVAX for AVAX).'),
    col('amount decimal?', 'value / 10^asset_decimals, exact; null if the decimals are unknown.'),
    col(
      'burned_value u256?',
      'Fee of the whole transaction in nAVAX: the AVAX that it unlocked and did not create again; null if unknown.',
    ),
  ],
} as const satisfies TableDeclaration
