import { type Dispatcher, EnvHttpProxyAgent, fetch, type RequestInit, type Response } from 'undici'
import { proxySettings } from '../core/platform/proxy.ts'

export type FetchOptions = Omit<RequestInit, 'dispatcher'> & {
  /** Maximum time without data while the response's headers or body are awaited, in milliseconds. */
  idleMs: number
}

export type FetchResponse = Response

/**
 * Fetches a URL, through a proxy if the environment defines one for it, and closes the connection afterwards.
 *
 * @param read consumes the response; its result is returned
 * @throws what `fetch` throws, and USAGE if the environment defines an invalid proxy
 */
export async function fetchWith<T>(
  url: URL,
  { idleMs, ...init }: FetchOptions,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const dispatcher = new EnvHttpProxyAgent({
    ...proxySettings(),
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
    connect: { timeout: idleMs },
    proxyTls: { timeout: idleMs },
  })
  try {
    return await read(await fetch(url, { ...init, dispatcher: dispatcher.compose(ignorePause) }))
  } finally {
    await dispatcher.destroy()
  }
}

/**
 * Prevents responses from pausing their connection. undici 7 terminates the process with a failed assertion
 * if a server closes a paused connection (nodejs/undici#5360). Data that is read too slowly is buffered in
 * memory, so callers must limit the size of what they read.
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
