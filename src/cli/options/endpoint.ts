import { optionError } from '../../core/model/option-error.ts'
import type { Endpoint } from '../../core/platform/http-server.ts'

/** Parses an address to listen on: `host:port`, `[::1]:port`, or a port of 127.0.0.1. Throws USAGE. */
export function readEndpoint(
  option: string,
  text: string,
  { example, fix }: { example: string; fix: string },
): Endpoint {
  const [, bracketed, plain, digits = ''] = /^(?:(?:\[([^\]]+)\]|([^:[\]\s]+)):)?(\d{1,5})$/.exec(text) ?? []
  const port = Number(digits)
  if (digits !== '' && port <= 65_535) return { host: bracketed ?? plain ?? '127.0.0.1', port }
  throw optionError(option, { found: text, expected: `an address and a port: ${example}`, fix })
}
