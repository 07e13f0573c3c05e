import type { Numeric } from './response-fields.ts'
import type { NativeTransaction, WalletTransaction } from './transaction.ts'
import type { Webhook } from './webhook.ts'

/** A page of a listing. On the last one, the token is absent, null or empty. */
export type Paged<Items> = Items & { nextPageToken?: string | null }

/** A page of a wallet's transactions (interface section 4.3). */
export type WalletTransactionsPage = Paged<{ transactions: WalletTransaction[] }>

/** A page of a block's transactions (interface section 4.1). */
export type BlockTransactionsPage = Paged<{ transactions: NativeTransaction[] }>

/** A page of webhooks. */
export type WebhooksPage = Paged<{ webhooks: Webhook[] }>

/** A page of the addresses of a webhook. */
export type WebhookAddressesPage = Paged<{ addresses: string[]; totalAddresses?: Numeric | null }>
