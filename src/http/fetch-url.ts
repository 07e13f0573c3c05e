import { type Dispatcher, EnvHttpProxyAgent, fetch, type RequestInit, type Response } from 'undici'
import { proxySettings } from '../core/platform/proxy.ts'

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
    return await read(await fetch(url, { ...init, dispatcher: dispatcher.compose(ignorePause) }))
  } finally {
    await dispatcher.destroy()
  }
}

/**
 * Keeps responses from pausing their connection. undici 7 ends the process by a failed assertion when a server closes a
 * connection that is paused (nodejs/undici#5360). What is read too slowly waits in memory, so that readers must limit its size.
 */
const ignorePause: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const withoutPause = (controller: Dispatcher.DispatchController): Dispatcher.DispatchController =>
    new Proxy(controller, {
      get: (target, name) => {
        if (name === 'pause') return () => undefined
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  return dispatch(options, {
    onRequestStart: (controller, context) => handler.onRequestStart?.(withoutPause(controller), context),
    onRequestUpgrade: (controller, ...rest) => handler.onRequestUpgrade?.(controller, ...rest),
    onResponseStart: (controller, ...rest) => handler.onResponseStart?.(withoutPause(controller), ...rest),
    onResponseData: (controller, chunk) => handler.onResponseData?.(withoutPause(controller), chunk),
    onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(withoutPause(controller), trailers),
    onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
  })
}
