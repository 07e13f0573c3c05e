import { ExportError } from '../core/errors.ts'

export type Access = { baseUrl: string; apiKey?: string | undefined; apiKeyHeader: string }

/**
 * Checks the address of a service and the key for it; trailing slashes go, an empty key is none. Throws USAGE, without
 * the value where it may hold a secret.
 */
export function checkAccess({ baseUrl, apiKey, apiKeyHeader }: Access) {
  if (!/^https?:\/\/[^\s?#@\\]+$/i.test(baseUrl) || !URL.canParse(baseUrl))
    throw unusable('baseUrl', 'Give an http or https URL without user, password, query and #.')
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(apiKeyHeader))
    throw unusable('apiKeyHeader', 'Give the name of an HTTP header, like x-service-api-key.')
  if (apiKey !== undefined && !/^[\x21-\x7e]*$/.test(apiKey))
    throw unusable('apiKey', 'Give the key as printable ASCII without spaces and line ends.')
  return { baseUrl: new URL(baseUrl).href.replace(/\/+$/, ''), apiKey: apiKey || undefined, apiKeyHeader }
}

function unusable(option: keyof Access, fix: string): ExportError {
  return new ExportError('USAGE', `${option} cannot be used`, { fix })
}
