import { col, ours, PREFIX, type Table } from './column.ts'

export const walletTransactions = {
  name: 'wallet_transactions',
  about: "One row a wallet and transaction in that wallet's listing: who saw what.",
  key: ['chain_id', 'wallet_address', 'transaction_hash'],
  columns: [
    ...PREFIX,
    col('wallet_address text', 'Wallet of the job, lower case.'),
    col('wallet_label text?', "The job's label of the wallet."),
    col('is_sender bool', 'True where the wallet sent the transaction.'),
    col('is_receiver bool', 'True where the transaction went to the wallet.'),
    col('erc20_transfers int32', "ERC-20 transfers in this wallet's view."),
    col('erc721_transfers int32', "ERC-721 transfers in this wallet's view."),
    col('erc1155_transfers int32', "ERC-1155 transfer entries in this wallet's view."),
    col('internal_transactions int32', "Internal transactions in this wallet's view."),
  ],
} as const satisfies Table

export const ledger = {
  name: 'ledger',
  about: 'One row a movement, seen from one wallet of the job; sums to the balance over complete history.',
  key: ['entry_id'],
  columns: [
    ...PREFIX,
    ours('entry_id text', 'Stable id of the movement.'),
    col('wallet_address text', 'Wallet of the job, lower case.'),
    col('wallet_label text?', "The job's label of the wallet."),
    col('entry_index int32', "Position among the wallet's rows of this transaction, from 0."),
    ours('entry_type text', 'transfer, mint, burn, fee or self.'),
    ours('direction text', 'in or out.'),
    col('counterparty_address text?', 'The other party; null for a fee.'),
    col('counterparty_name text?', "The service's name of the other party (strangers' text)."),
    col('counterparty_is_own bool', 'True where the other party is a wallet of the job too.'),
    ours('asset_type text', 'native, erc20, erc721 or erc1155.'),
    col('asset_address text?', 'Contract of the asset; null for the native coin.'),
    col('asset_symbol text?', "Symbol of the asset (strangers' text, but for the native coin)."),
    col('asset_decimals int32?', 'Decimals of the asset; 18 for the native coin, 0 for ERC-721.'),
    col('token_id u256?', 'Token id of ERC-721 and ERC-1155.'),
    col('value i256', 'Amount in the smallest unit, negative when out.'),
    col('amount decimal?', 'value / 10^asset_decimals, exact, negative when out.'),
    col('method_name text?', "Method of the transaction (strangers' text)."),
    ours('source text', 'The fact table that the row came from.'),
  ],
} as const satisfies Table
