import { ExportError } from '../core/model/errors.ts'
import { explainBody, type RequestedUrl } from './endpoint-hints.ts'
import type { ApiResponse, ClientRequest } from './http-client.ts'

/** Parses the body of a response. Throws PAGE_MALFORMED if it is not what was requested. */
export type BodyReader<T> = (body: Buffer) => T | Promise<T>

/**
 * Reads the body of a 2xx response.
 *
 * @throws PAGE_MALFORMED if it is a web page or an answer of another API, if `read` throws it, or if a GET is answered
 *   with another status than 200: a 206 carries only a part of what was requested, a 203 what a proxy made of it,
 *   and a 202 or 204 nothing.
 */
export async function readBody<T>(
  response: ApiResponse,
  requested: RequestedUrl & Pick<ClientRequest, 'method'>,
  read: BodyReader<T>,
): Promise<T> {
  // `read` may transfer the body to another thread, after which it is not readable here.
  const explanation = explainBody(response, requested)
  try {
    if (requested.method === 'GET' && response.status !== 200)
      throw new ExportError('PAGE_MALFORMED', `the service answered ${response.status} instead of 200`)
    return await read(response.body)
  } catch (thrown) {
    if (!(thrown instanceof ExportError) || thrown.code !== 'PAGE_MALFORMED' || explanation === undefined)
      throw thrown
    const { what, fix } = explanation
    throw new ExportError('PAGE_MALFORMED', what, { fix, isPermanent: true })
  }
}
