/** The public API of walletlake: what a program may import; everything else may change at any time. */

export {
  type Balance,
  type Balances,
  type BalancesOptions,
  type BelowZero,
  balances,
  type FlaggedToken,
} from './balances/balances.ts'
export { compareExpected, type Difference } from './balances/expect.ts'
export type { Flag } from './balances/flags.ts'
export { createGate, type Gate, type GatePass } from './client/gate/gate.ts'
export type { GateOutcome } from './client/gate/pace.ts'
export type { CallOptions, Paging } from './client/operations/call.ts'
export type { ChainsQuery } from './client/operations/chains.ts'
export type { NftQuery } from './client/operations/nfts.ts'
export type { Segment } from './client/operations/path.ts'
export type {
  BlockTransactionsQuery,
  TransactionQuery,
  WalletTransactionsQuery,
} from './client/operations/transactions.ts'
export type { WebhookAddresses } from './client/operations/webhook-addresses.ts'
export type { WebhookId, WebhookMatch, WebhooksQuery } from './client/operations/webhooks.ts'
export type { RequestEvent } from './client/request.ts'
export type { Answered, Numeric, Open } from './client/resources/answered.ts'
export type { Chain } from './client/resources/chain.ts'
export type {
  BlockTransactionsPage,
  Paged,
  WalletTransactionsPage,
  WebhookAddressesPage,
  WebhooksPage,
} from './client/resources/pages.ts'
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
} from './client/resources/transaction.ts'
export type {
  EventType,
  NewWebhook,
  Webhook,
  WebhookChanges,
  WebhookStatus,
} from './client/resources/webhook.ts'
export type { RetryOptions } from './client/retry.ts'
export {
  createServiceClient,
  SERVICE_CLIENT_DEFAULTS,
  type ServiceClient,
  type ServiceClientOptions,
} from './client/service-client.ts'
export { type Converted, convert } from './convert/convert.ts'
export type { ConvertOptions } from './convert/options.ts'
export { type PriceNeeded, pricesNeeded } from './convert/prices-needed.ts'
export { PRESET_NAMES } from './convert/writers.ts'
export {
  ExportError,
  type ExportErrorOptions,
  FAILURES,
  type Failure,
  type FailureCode,
} from './core/errors.ts'
export type { Changes, Figures } from './core/figures.ts'
export type { Job } from './core/model.ts'
export type { TableRows } from './core/table/row-types.ts'
export type { Reject } from './flatten/flatten-transaction.ts'
export { defineJob, type JobFields } from './job/define-job.ts'
export type { JobOverrides } from './job/overrides.ts'
export { readJob } from './job/read-job.ts'
export type { Answer, AnswerCell, AnswerColumn } from './read/answer.ts'
export { askExport } from './read/ask-export.ts'
export { type Reported, type ReportOptions, report } from './reports/report.ts'
export { type RowsOptions, rows } from './run/rows.ts'
export { type RunOptions, type RunResult, run } from './run/run.ts'
