import type { Numeric, OpenEnum, ResponseFields } from './response-fields.ts'

/** Kind of events that a webhook sends (interface section 2.9). */
export type EventType = OpenEnum<'address_activity'>

/** `active` after creation (interface section 3); other values depend on the service. */
export type WebhookStatus = OpenEnum<'active' | 'inactive'>

/** A webhook for addresses of one chain (interface section 2.9). */
export type Webhook = ResponseFields<{
  id: string
  eventType: EventType
  /** Receiver of the events. */
  url: string
  chainId: Numeric
  status: WebhookStatus
  /** The interface does not state its unit. */
  createdAt: Numeric
  name: string
  description: string
  metadata: ResponseFields<{
    /** Watched addresses. */
    addresses: string[]
    /** Hexadecimal; the interface does not describe their meaning. */
    eventSignatures: string[]
  }>
  /** Whether events include traces. */
  includeInternalTxs: boolean
  /** Whether events include logs. */
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
    /** Addresses to watch; at most 5 on a free plan, according to the interface. */
    addresses: readonly string[]
    /** Hexadecimal. */
    eventSignatures?: readonly string[] | undefined
  }
  name?: string | undefined
  description?: string | undefined
  /** Include traces in the events; available on chains 43113 and 43114 only. */
  includeInternalTxs?: boolean | undefined
  /** Include logs in the events. */
  includeLogs?: boolean | undefined
}

/** The fields of a webhook that can be changed. Addresses have separate operations. */
export type WebhookChanges = {
  name?: string | undefined
  description?: string | undefined
  url?: string | undefined
  status?: WebhookStatus | undefined
  includeInternalTxs?: boolean | undefined
  includeLogs?: boolean | undefined
}
