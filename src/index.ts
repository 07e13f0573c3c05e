/** The public API of walletlake. Everything that is not exported here can change in any release. */

export { type ConversionResult, convert } from './accounting/convert.ts'
export { FORMAT_NAMES } from './accounting/formats.ts'
export { type PriceNeeded, pricesNeeded, type TickerNeeded, tickersNeeded } from './accounting/needed.ts'
export type { ConvertOptions } from './accounting/options.ts'
export type { StatementLine } from './accounting/statement/ledger-sums.ts'
export {
  type Statement,
  type StatementExport,
  type StatementOptions,
  statement,
} from './accounting/statement/statement.ts'
export {
  ExportError,
  type ExportErrorOptions,
  FAILURES,
  type Failure,
  type FailureCode,
} from './core/model/errors.ts'
export type { Job } from './core/model/model.ts'
export type { Changes, RunStats } from './core/model/run-stats.ts'
export type { RetryOptions } from './core/platform/retry.ts'
export type { TableRows } from './core/table/row-types.ts'
export { type RowsOptions, rows } from './export/rows.ts'
export { type JobProgress, type RunOptions, type RunResult, run } from './export/run.ts'
export { type ReportOptions, type ReportResult, report } from './html-report/report.ts'
export type { RequestOutcome } from './http/rate-limit/limiter-state.ts'
export { createRateLimiter, type Permit, type RateLimiter } from './http/rate-limit/rate-limiter.ts'
export type { RequestEvent } from './http/request.ts'
export { defineJob, type JobFields, readJob } from './job/read-job.ts'
export type { JobOverrides } from './job/resolve/overrides.ts'
export {
  type Balance,
  type Balances,
  type BalancesOptions,
  balances,
  type FlaggedToken,
  type NegativeBalance,
} from './ledger/balances/balances.ts'
export { compareExpected, type Difference } from './ledger/balances/compare-expected.ts'
export type { SpamFlag } from './ledger/balances/spam-rules.ts'
export { type QueryOptions, queryExport } from './read/query-export.ts'
export type { QueryResult, ResultCell, ResultColumn } from './read/query-result.ts'
export type {
  BalanceQuery,
  Erc20BalancesPage,
  Erc20BalancesQuery,
  Erc721BalancesPage,
  Erc721BalancesQuery,
  Erc1155BalancesPage,
  Erc1155BalancesQuery,
} from './sources/data-api/operations/balances.ts'
export type { CallOptions, Paging, PathSegment } from './sources/data-api/operations/call.ts'
export type { ChainsQuery } from './sources/data-api/operations/chains.ts'
export type { NftQuery } from './sources/data-api/operations/nfts.ts'
export type {
  BlockTransactionsQuery,
  TransactionQuery,
  WalletTransactionsQuery,
} from './sources/data-api/operations/transactions.ts'
export type {
  WebhookAddresses,
  WebhookId,
  WebhookMatch,
  WebhooksQuery,
} from './sources/data-api/operations/webhooks.ts'
export type {
  BlockTransactionsPage,
  Chain,
  Erc20Balance,
  Erc20Token,
  Erc20Transfer,
  Erc721Balance,
  Erc721Metadata,
  Erc721Token,
  Erc721Transfer,
  Erc1155Balance,
  Erc1155Metadata,
  Erc1155Token,
  Erc1155Transfer,
  EventType,
  InternalTransaction,
  Method,
  NativeBalance,
  NativeTransaction,
  NetworkToken,
  NewWebhook,
  Numeric,
  OpenEnum,
  Paged,
  Party,
  Price,
  ResponseFields,
  TransactionDetails,
  WalletTransaction,
  WalletTransactionsPage,
  Webhook,
  WebhookAddressesPage,
  WebhookChanges,
  WebhookStatus,
  WebhooksPage,
} from './sources/data-api/resources.ts'
export {
  createServiceClient,
  SERVICE_CLIENT_DEFAULTS,
  type ServiceClient,
  type ServiceClientOptions,
} from './sources/data-api/service-client.ts'
export type { Reject } from './transform/flatten-transaction.ts'
