import type { Api } from './api.ts'

/** A public service, from its documentation. */
export type KnownService = {
  api: Api
  /** HTTP header that carries the API key, if it is not the default. */
  keyHeader?: string
}

/** Public services by host. A name that begins with a dot stands for all hosts of that domain. */
const SERVICES: Readonly<Record<string, KnownService>> = {
  'glacier-api.avax.network': { api: 'data-api', keyHeader: 'x-glacier-api-key' },
  'data-api.avax.network': { api: 'data-api', keyHeader: 'x-glacier-api-key' },
  'api.etherscan.io': { api: 'etherscan' },
  '.blockscout.com': { api: 'blockscout' },
}

/** The public service at a base URL; undefined if the host is not known. */
export function knownServiceOf(baseUrl: string | undefined): KnownService | undefined {
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return undefined
  const { hostname } = new URL(baseUrl)
  const name = Object.keys(SERVICES).find(
    (known) => known === hostname || (known.startsWith('.') && hostname.endsWith(known)),
  )
  return name === undefined ? undefined : SERVICES[name]
}
