/**
 * Normalizes the base URL of a service: removes trailing slashes, and a trailing `/v1`, because every path of
 * the interface (INTERFACE section 9) begins with it. Returns undefined if the text is not an http(s) URL or
 * contains credentials, a query or a fragment.
 */
export function parseBaseUrl(text: string): string | undefined {
  if (!/^https?:\/\/[^\s?#@\\]+$/i.test(text) || !URL.canParse(text)) return undefined
  return new URL(text).href.replace(/\/+$/, '').replace(/\/+v1$/, '')
}
