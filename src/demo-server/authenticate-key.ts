import { createHash, timingSafeEqual } from 'node:crypto'
import { ExportError } from '../core/model/errors.ts'
import type { DataServiceOptions, ServiceRequest } from './data-service.ts'
import { HttpError } from './http-error.ts'

/**
 * Creates the check of a request's key. It gives the number of the key among `keys` (0 where there are none),
 * and refuses with 401 a request without a key, with 403 one with a key that is not among them.
 * The time it takes says nothing about the keys: digests are compared, and always all of them.
 */
export function createKeyAuthenticator({ keys = [], keyHeader = 'x-service-api-key' }: DataServiceOptions) {
  if (keys.includes('')) throw new ExportError('USAGE', 'a key of the service is empty')
  const digests = keys.map(digest)
  const header = keyHeader.toLowerCase()

  return (headers: ServiceRequest['headers']): number => {
    if (digests.length === 0) return 0
    const key = headers[header]
    if (!key) throw new HttpError(401, `This service needs a key in the header ${header}.`)
    const presented = digest(key)
    const matches = digests.map((accepted) => timingSafeEqual(accepted, presented))
    if (!matches.includes(true)) throw new HttpError(403, `The key in the header ${header} is not accepted.`)
    return matches.indexOf(true)
  }
}

function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
