import { parseBaseUrl } from '../../core/model/base-url.ts'
import { ExportError } from '../../core/model/errors.ts'

export type Access = { baseUrl: string; apiKey?: string | undefined; apiKeyHeader: string }

/**
 * Checks the address of a service and the key for it; slashes and `/v1` at its end go, an empty key is none. Throws USAGE, without
 * the value where it may hold a secret.
 */
export function checkAccess({ baseUrl, apiKey, apiKeyHeader }: Access) {
  const url = parseBaseUrl(baseUrl)
  if (url === undefined)
    throw invalidOption('baseUrl', 'Give an http or https URL without user, password, query and #.')
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(apiKeyHeader))
    throw invalidOption('apiKeyHeader', 'Give the name of an HTTP header, like x-service-api-key.')
  if (apiKey !== undefined && !/^[\x21-\x7e]*$/.test(apiKey))
    throw invalidOption('apiKey', 'Give the key as printable ASCII without spaces and line ends.')
  return { baseUrl: url, apiKey: apiKey || undefined, apiKeyHeader }
}

function invalidOption(option: keyof Access, fix: string): ExportError {
  return new ExportError('USAGE', `${option} cannot be used`, { fix })
}
