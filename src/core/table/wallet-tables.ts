import { LEDGER_ENTRY_TYPES } from '../model/entry-types.ts'
import { col, generated, PREFIX, type TableDeclaration } from './column.ts'

export const walletTransactions = {
  name: 'wallet_transactions',
  about: 'One row per wallet and transaction: which transactions the listing of each wallet contains.',
  key: ['chain_id', 'wallet_address', 'transaction_hash'],
  columns: [
    ...PREFIX,
    col('wallet_address text', 'Address of the wallet, in lowercase.'),
    col('wallet_label text?', 'Label of the wallet in the job.'),
    col('is_sender bool', 'True if the wallet is the sender of the transaction.'),
    col('is_receiver bool', 'True if the wallet is the receiver of the transaction.'),
    col('erc20_transfers int32', "Number of ERC-20 transfers in this wallet's view of the transaction."),
    col('erc721_transfers int32', "Number of ERC-721 transfers in this wallet's view of the transaction."),
    col(
      'erc1155_transfers int32',
      "Number of ERC-1155 transfer entries in this wallet's view of the transaction.",
    ),
    col(
      'internal_transactions int32',
      "Number of internal transactions in this wallet's view of the transaction.",
    ),
  ],
} as const satisfies TableDeclaration

export const ledger = {
  name: 'ledger',
  about:
    'One row per movement of an asset, seen from one wallet of the job; over a complete history the rows add up to the balance.',
  key: ['entry_id'],
  columns: [
    ...PREFIX,
    generated('entry_id text', 'Stable id of the row.'),
    col('wallet_address text', 'Address of the wallet, in lowercase.'),
    col('wallet_label text?', 'Label of the wallet in the job.'),
    col('entry_index int32', "Position among this wallet's rows of the transaction, starting at 0."),
    generated(
      'entry_type text',
      `${LEDGER_ENTRY_TYPES.slice(0, -1).join(', ')} or ${LEDGER_ENTRY_TYPES.at(-1)}.`,
    ),
    generated('direction text', 'in or out.'),
    col('counterparty_address text?', 'Address of the other party; null for a fee.'),
    col('counterparty_name text?', 'Display name of the other party in the service (untrusted text).'),
    col('counterparty_is_own bool', 'True if the other party is also a wallet of the job.'),
    generated('asset_type text', 'native, erc20, erc721 or erc1155.'),
    col('asset_address text?', 'Contract address of the asset; null for the native coin.'),
    col('asset_symbol text?', 'Symbol of the asset (untrusted text, except for the native coin).'),
    col('asset_decimals int32?', 'Number of decimals of the asset: 18 for the native coin, 0 for ERC-721.'),
    col('token_id u256?', 'Token id of an ERC-721 or ERC-1155 token; null for other assets.'),
    col('value i256', 'Amount, in the smallest unit of the asset; negative if direction is out.'),
    col('amount decimal?', 'value / 10^asset_decimals, exact; null if the decimals are unknown.'),
    col('method_name text?', 'Signature of the method that the transaction calls (untrusted text).'),
    generated('source text', 'Table that holds the underlying fact.'),
  ],
} as const satisfies TableDeclaration
