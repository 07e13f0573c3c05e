import type { ServiceRequest } from './data-service.ts'
import { HttpError } from './http-error.ts'
import type { JsonObject } from './json.ts'
import { OPERATIONS, type OperationName } from './operations.ts'
import { readJsonBody } from './read-json-body.ts'

/** One operation as it was asked for; what it means is for the operation to read. */
export type Call = {
  readonly operation: OperationName
  /** What stands in the path in place of a name in braces, decoded; empty where the path has no such name. */
  readonly path: Readonly<Record<PathName, string>>
  readonly query: URLSearchParams
  /** The body; refuses with 400 what is no JSON object, with 413 what is too long. */
  body(): JsonObject
}

/**
 * Reads what a request asks for: the welcome, or a call, which is read when called (a stranger at the door learns
 * nothing about paths). Refuses with 404 what is not served here, with 400 a path that is not well formed.
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
    if (!route) throw new HttpError(404, `${method} ${path} is not served here: GET / lists what is.`)
    return {
      operation: route.operation,
      path: pathParametersOf(route, segments),
      query: new URLSearchParams(query),
      body: () => readJsonBody(request),
    }
  }
}

const NO_PARAMETERS = { chainId: '', address: '', blockId: '', txHash: '', tokenId: '', id: '' }
type PathName = keyof typeof NO_PARAMETERS

const ROUTES = Object.entries(OPERATIONS).map(([operation, { method, path }]) => ({
  operation: operation as OperationName,
  method: method as string,
  patterns: path.split('/').slice(1).map(readPattern),
}))
type Route = (typeof ROUTES)[number]

/** A segment of a path: a name in braces and the text after it, or the text alone. */
function readPattern(segment: string) {
  const [, name, suffix] = /^\{(\w+)\}(.*)$/.exec(segment) ?? []
  return name === undefined ? { suffix: segment } : { name: name as PathName, suffix: suffix ?? '' }
}

/** Segments after the first slash, decoded one by one, so that an encoded slash stays inside its segment. */
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
