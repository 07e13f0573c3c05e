import type { Numeric, OpenEnum, ResponseFields } from './response-fields.ts'
import type { NetworkToken } from './transaction.ts'

/**
 * A supported chain. The interface names the endpoint (section 1) without its shape; this is the shape of a
 * known service.
 */
export type Chain = ResponseFields<{
  chainId: Numeric
  /** `UNAVAILABLE`: requests that need the chain's nodes may fail with 503. */
  status: OpenEnum<'OK' | 'UNAVAILABLE'>
  chainName: string
  description: string
  platformChainId: string
  subnetId: string
  vmId: string
  vmName: OpenEnum<'EVM'>
  explorerUrl: string
  rpcUrl: string
  wsUrl: string
  isTestnet: boolean
  utilityAddresses: ResponseFields<{ multicall: string }>
  networkToken: NetworkToken
  chainLogoUri: string
  private: boolean
  enabledFeatures: string[]
}>
