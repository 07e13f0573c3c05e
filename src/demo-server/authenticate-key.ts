import { createHash, timingSafeEqual } from 'node:crypto'
import { ExportError } from '../core/model/errors.ts'
import type { DataServiceOptions, ServiceRequest } from './data-service.ts'
import { HttpError } from './http-error.ts'

/**
 * Creates the function that checks the API key of a request. It returns the index of the key in `keys`, or 0 if no keys are
 * configured.
 *
 * The duration of the check does not depend on the keys: it compares digests in constant time, and always all of them.
 *
 * @throws `HttpError` 401 without a key, 403 with a key that is not in `keys`
 */
export function createKeyAuthenticator({ keys = [], keyHeader = 'x-service-api-key' }: DataServiceOptions) {
  if (keys.includes('')) throw new ExportError('USAGE', 'an API key of the service is empty')
  const digests = keys.map(digest)
  const header = keyHeader.toLowerCase()

  return (headers: ServiceRequest['headers']): number => {
    if (digests.length === 0) return 0
    const key = headers[header]
    if (!key) throw new HttpError(401, `This service requires an API key in the header ${header}.`)
    const presented = digest(key)
    const matches = digests.map((accepted) => timingSafeEqual(accepted, presented))
    if (!matches.includes(true)) throw new HttpError(403, `The API key in the header ${header} is not valid.`)
    return matches.indexOf(true)
  }
}

function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
