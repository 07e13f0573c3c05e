import { EnvHttpProxyAgent, fetch, type RequestInit, type Response } from 'undici'
import { proxySettings } from '../core/proxy.ts'

export type FetchOptions = Omit<RequestInit, 'dispatcher'> & {
  /** Longest pause while the response's head or body is awaited, in milliseconds. */
  idleMs: number
}

export type FetchResponse = Response

/**
 * Requests a URL, through the proxy that the environment names for it, and gives what `read` makes of the response; its
 * connection is closed then. Rejects as `fetch` does, and with USAGE where the environment names no usable proxy.
 */
export async function fetchWith<T>(
  url: URL,
  { idleMs, ...init }: FetchOptions,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const dispatcher = new EnvHttpProxyAgent({
    ...proxySettings(),
    ...{ headersTimeout: idleMs, bodyTimeout: idleMs },
    ...{ connect: { timeout: idleMs }, proxyTls: { timeout: idleMs } },
  })
  try {
    return await read(await fetch(url, { ...init, dispatcher }))
  } finally {
    await dispatcher.destroy()
  }
}
