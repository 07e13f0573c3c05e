import type { Api } from './api.ts'

/** A public service, from its documentation. */
export type KnownService = {
  api: Api
  /** HTTP header that carries the API key, if it is not the default. */
  keyHeader?: string
  /** What replaces the hosts of an API that was switched off, and the web sites beside them. */
  replacement?: Replacement
}

type Replacement = {
  baseUrl: string
  /** The year in which the API was switched off. */
  year: number
  /** What its keys are valid for, if they are needed. */
  keys?: string
}

/**
 * Hosts of version 1 of Etherscan's API, one for each chain. Version 2 replaced them on 2025-08-15
 * (https://docs.etherscan.io/v2-migration and its list of legacy documentation).
 */
const ETHERSCAN_V1: KnownService = {
  api: 'etherscan',
  replacement: {
    baseUrl: 'https://api.etherscan.io/v2/api',
    year: 2025,
    keys: 'keys of etherscan.io are valid for all chains',
  },
}

/** Snowtrace moved to Routescan on 2023-11-30; its documentation names this base URL. */
const SNOWTRACE: KnownService = {
  api: 'etherscan',
  replacement: {
    baseUrl: 'https://api.routescan.io/v2/network/mainnet/evm/43114/etherscan/api',
    year: 2023,
  },
}

/**
 * Public services by host; the first match counts. A name that begins with a dot stands for a domain and all
 * hosts of it.
 * jobs/README.md lists them.
 */
const SERVICES: Readonly<Record<string, KnownService>> = {
  'glacier-api.avax.network': { api: 'data-api', keyHeader: 'x-glacier-api-key' },
  'data-api.avax.network': { api: 'data-api', keyHeader: 'x-glacier-api-key' },
  'api.etherscan.io': { api: 'etherscan' },
  'api.routescan.io': { api: 'etherscan' },
  '.blockscout.com': { api: 'blockscout' },
  '.etherscan.io': ETHERSCAN_V1,
  '.apescan.io': ETHERSCAN_V1,
  '.arbiscan.io': ETHERSCAN_V1,
  '.basescan.org': ETHERSCAN_V1,
  '.bscscan.com': ETHERSCAN_V1,
  '.bttcscan.com': ETHERSCAN_V1,
  '.celoscan.io': ETHERSCAN_V1,
  '.gnosisscan.io': ETHERSCAN_V1,
  '.lineascan.build': ETHERSCAN_V1,
  '.moonscan.io': ETHERSCAN_V1,
  '.polygonscan.com': ETHERSCAN_V1,
  '.snowtrace.io': SNOWTRACE,
}

/** The public service at a base URL; undefined if the host is not known. */
export function knownServiceOf(baseUrl: string | undefined): KnownService | undefined {
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return undefined
  const { hostname } = new URL(baseUrl)
  const name = Object.keys(SERVICES).find(
    (known) => known === hostname || (known.startsWith('.') && `.${hostname}`.endsWith(known)),
  )
  return name === undefined ? undefined : SERVICES[name]
}

/** Why a base URL cannot be used, and the one to use instead; undefined if nothing is known against it. */
export function replacementOf(
  baseUrl: string,
): { baseUrl: string; reason: string; keys?: string } | undefined {
  const replacement = knownServiceOf(baseUrl)?.replacement
  if (replacement === undefined) return undefined
  const { hostname } = new URL(baseUrl)
  // The names of all hosts with an API begin with it, such as api-sepolia.etherscan.io.
  const reason = hostname.startsWith('api') ? `was switched off in ${replacement.year}` : 'is a web site'
  return { ...replacement, reason: `${hostname} ${reason}` }
}
