import { ExportError } from '../core/model/errors.ts'
import { describeConnectionError, describeRoute } from './connection-error.ts'
import { bodyTooLarge } from './decompress.ts'
import { TimeoutError } from './send-http-request.ts'

/** Creates the error for a request whose response did not arrive completely. */
export function toConnectionError(
  cause: unknown,
  { baseUrl, maxBodyBytes }: { baseUrl: string; maxBodyBytes: number },
): ExportError {
  if (cause instanceof ExportError) return cause
  if (cause instanceof TimeoutError)
    return new ExportError('SERVICE_UNAVAILABLE', cause.message, {
      cause,
      mayHaveActed: true,
      fix: TIMEOUT_FIX + describeRoute(baseUrl),
    })
  const codes = errorCodesOf(cause)
  if (codes.includes('UND_ERR_RES_EXCEEDED_MAX_SIZE')) return bodyTooLarge(maxBodyBytes)
  const wasNotSent = codes.some((code) => NOT_SENT_CODES.test(code))
  const { message, ...text } = describeConnectionError(codes, baseUrl)
  return new ExportError('SERVICE_UNAVAILABLE', message, { mayHaveActed: !wasNotSent, ...text })
}

const TIMEOUT_FIX = 'Run the same command again: it resumes. If the service is slow, raise service.timeout.'

/**
 * Codes of an error and its causes. Other libraries' messages are not used: they may contain URLs with
 * queries. Only undici's message holds a proxy's response to CONNECT.
 */
function errorCodesOf(cause: unknown): string[] {
  const codes: string[] = []
  for (let current = cause; current instanceof Error && codes.length < 3; current = current.cause) {
    const [, status] = /^Proxy (?:response|Authentication Required) \((\d+)\)/.exec(current.message) ?? []
    codes.push(
      status === undefined
        ? ((current as NodeJS.ErrnoException).code ?? current.name)
        : `PROXY_STATUS_${status}`,
    )
  }
  return [...new Set(codes)]
}

/** Codes of errors that occur before a connection exists, so the request was not sent. */
const NOT_SENT_CODES =
  /^(PROXY_STATUS_\d+|ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|UND_ERR_(CONNECT_TIMEOUT|INVALID_ARG)|(ERR_TLS|ERR_SSL|CERT|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)_\w+)$/
