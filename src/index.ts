/** The public API of walletlake: what a program may import; everything else may change at any time. */

export { ExportError, type ExportErrorOptions, FAILURES, type Failure, type FailureCode } from './errors.ts'
export { createGate, type Gate, type GatePass } from './fetch/gate.ts'
export type { GateOutcome } from './fetch/gate-pace.ts'
export type { CallOptions, Paging } from './fetch/operations/call.ts'
export type { ChainsQuery } from './fetch/operations/chains.ts'
export type { NftQuery } from './fetch/operations/nfts.ts'
export type { Segment } from './fetch/operations/path.ts'
export type {
  BlockTransactionsQuery,
  TransactionQuery,
  WalletTransactionsQuery,
} from './fetch/operations/transactions.ts'
export type { WebhookAddresses } from './fetch/operations/webhook-addresses.ts'
export type { WebhookId, WebhookMatch, WebhooksQuery } from './fetch/operations/webhooks.ts'
export type { RequestEvent } from './fetch/request.ts'
export type { Answered, Numeric, Open } from './fetch/resources/answered.ts'
export type { Chain } from './fetch/resources/chain.ts'
export type {
  BlockTransactionsPage,
  Paged,
  WalletTransactionsPage,
  WebhookAddressesPage,
  WebhooksPage,
} from './fetch/resources/pages.ts'
export type {
  Erc20Token,
  Erc20Transfer,
  Erc721Metadata,
  Erc721Token,
  Erc721Transfer,
  Erc1155Metadata,
  Erc1155Token,
  Erc1155Transfer,
  InternalTransaction,
  Method,
  NativeTransaction,
  NetworkToken,
  Party,
  Price,
  TransactionDetails,
  WalletTransaction,
} from './fetch/resources/transaction.ts'
export type {
  EventType,
  NewWebhook,
  Webhook,
  WebhookChanges,
  WebhookStatus,
} from './fetch/resources/webhook.ts'
export type { RetryOptions } from './fetch/retry.ts'
export {
  createServiceClient,
  SERVICE_CLIENT_DEFAULTS,
  type ServiceClient,
  type ServiceClientOptions,
} from './fetch/service-client.ts'
export type { Changes, Figures } from './figures.ts'
export type { Reject } from './flatten/flatten-transaction.ts'
export { defineJob, type JobFields } from './job/define-job.ts'
export type { JobOverrides } from './job/overrides.ts'
export { readJob } from './job/read-job.ts'
export type { Job } from './model.ts'
export { type RowsOptions, rows } from './rows.ts'
export { type RunOptions, type RunResult, run } from './run.ts'
export type { TableRows } from './table/row-types.ts'
