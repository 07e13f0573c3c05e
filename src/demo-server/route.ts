import type { ServiceRequest } from './data-service.ts'
import { HttpError } from './http-error.ts'
import type { JsonObject } from './json.ts'
import { OPERATIONS, type OperationName } from './operations.ts'
import { readJsonBody } from './read-json-body.ts'

/** A request for one operation. The operation itself validates the parameters. */
export type Call = {
  readonly operation: OperationName
  /** Decoded values of the names in braces; empty for names that the path does not have. */
  readonly path: Readonly<Record<PathName, string>>
  readonly query: URLSearchParams
  /** Parses the body. Throws `HttpError` 400 if it is not a JSON object, 413 if it is too large. */
  body(): JsonObject
}

/**
 * Finds the route of a request: the index page, or a function that parses the call. Parsing is deferred until the key has
 * been checked, so that clients without a key learn nothing about paths.
 *
 * @throws `HttpError`, from the returned function: 404 for an unknown route, 400 for a malformed path
 */
export function matchRoute(request: ServiceRequest): 'index' | (() => Call) {
  const { method, url } = request
  const queryStart = url.indexOf('?')
  const path = queryStart < 0 ? url : url.slice(0, queryStart)
  const query = queryStart < 0 ? '' : url.slice(queryStart + 1)
  if (path === '/' && method === 'GET') return 'index'
  return () => {
    const segments = decodeSegments(url, path)
    const route = ROUTES.find((candidate) => candidate.method === method && matches(candidate, segments))
    if (!route) throw new HttpError(404, `${method} ${path} is not served here: GET / lists the operations.`)
    return {
      operation: route.operation,
      path: pathParametersOf(route, segments),
      query: new URLSearchParams(query),
      body: () => readJsonBody(request),
    }
  }
}

const NO_PARAMETERS = {
  chainId: '',
  address: '',
  blockId: '',
  txHash: '',
  tokenId: '',
  id: '',
  network: '',
  blockchainId: '',
}
type PathName = keyof typeof NO_PARAMETERS

const ROUTES = Object.entries(OPERATIONS).map(([operation, { method, path }]) => ({
  operation: operation as OperationName,
  method: method as string,
  patterns: path.split('/').slice(1).map(readPattern),
}))
type Route = (typeof ROUTES)[number]

/** Parses a path segment: a name in braces with the text after it, or plain text. */
function readPattern(segment: string) {
  const [, name, suffix] = /^\{(\w+)\}(.*)$/.exec(segment) ?? []
  return name === undefined ? { suffix: segment } : { name: name as PathName, suffix: suffix ?? '' }
}

/** Decodes the segments of a path one by one, so that an encoded slash remains part of its segment. */
function decodeSegments(url: string, path: string): string[] {
  try {
    decodeURIComponent(url)
    return path.split('/').slice(1).map(decodeURIComponent)
  } catch {
    throw new HttpError(
      400,
      'The URL is not well formed: expected UTF-8, with every % followed by two hex digits.',
    )
  }
}

function matches({ patterns }: Route, segments: readonly string[]): boolean {
  return (
    segments.length === patterns.length &&
    patterns.every(({ name, suffix }, at) => {
      const segment = segments[at] as string
      return name === undefined
        ? segment === suffix
        : segment.endsWith(suffix) && segment.length > suffix.length
    })
  )
}

function pathParametersOf({ patterns }: Route, segments: readonly string[]): Call['path'] {
  const values = patterns.flatMap(({ name, suffix }, at) => {
    const segment = segments[at] as string
    return name === undefined ? [] : [[name, segment.slice(0, segment.length - suffix.length)] as const]
  })
  return { ...NO_PARAMETERS, ...Object.fromEntries(values) }
}
