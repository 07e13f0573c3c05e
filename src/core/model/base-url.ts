/**
 * The base address of a service as it is asked: without slashes at its end, and without the `/v1` that every path of
 * the interface (section 9) begins with already. Undefined where the text is no http(s) URL, or has a user, a password,
 * a query or a `#`.
 */
export function parseBaseUrl(text: string): string | undefined {
  if (!/^https?:\/\/[^\s?#@\\]+$/i.test(text) || !URL.canParse(text)) return undefined
  return new URL(text).href.replace(/\/+$/, '').replace(/\/+v1$/, '')
}
