import type { Numeric, OpenEnum, ResponseFields } from './response-fields.ts'

/** What kind of events a webhook sends (interface section 2.9). */
export type EventType = OpenEnum<'address_activity'>

/** `active` after creation (interface section 3); others are the service's. */
export type WebhookStatus = OpenEnum<'active' | 'inactive'>

/** A watch on addresses of one chain (interface section 2.9). */
export type Webhook = ResponseFields<{
  id: string
  eventType: EventType
  /** Receiver of the events. */
  url: string
  chainId: Numeric
  status: WebhookStatus
  /** Its unit is not shown by the interface. */
  createdAt: Numeric
  name: string
  description: string
  metadata: ResponseFields<{
    /** Watched addresses. */
    addresses: string[]
    /** Hexadecimal; their meaning is not shown by the interface. */
    eventSignatures: string[]
  }>
  /** Whether events hold traces. */
  includeInternalTxs: boolean
  /** Whether events hold logs. */
  includeLogs: boolean
}>

/** A webhook to be created (interface section 4.4). */
export type NewWebhook = {
  eventType: EventType
  /** Receiver of the events. */
  url: string
  /** Chain to watch. */
  chainId: string
  metadata: {
    /** Addresses to watch; the interface names 5 as the most of a free plan. */
    addresses: readonly string[]
    /** Hexadecimal. */
    eventSignatures?: readonly string[] | undefined
  }
  name?: string | undefined
  description?: string | undefined
  /** Put traces into the events; they exist only on chains 43113 and 43114. */
  includeInternalTxs?: boolean | undefined
  /** Put logs into the events. */
  includeLogs?: boolean | undefined
}

/** What of a webhook can be changed; addresses have operations of their own. */
export type WebhookChanges = {
  name?: string | undefined
  description?: string | undefined
  url?: string | undefined
  status?: WebhookStatus | undefined
  includeInternalTxs?: boolean | undefined
  includeLogs?: boolean | undefined
}
