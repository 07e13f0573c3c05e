import { parseBaseUrl } from '../../core/model/base-url.ts'
import { ExportError } from '../../core/model/errors.ts'

export type Access = { baseUrl: string; apiKey?: string | undefined; apiKeyHeader: string }

/**
 * Validates the base URL of a service and the API key. Removes trailing slashes and `/v1` from the URL; an
 * empty key counts as none.
 *
 * @throws USAGE, without the value, because it may contain a secret
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
