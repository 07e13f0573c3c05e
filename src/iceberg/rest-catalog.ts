import { ExportError } from '../core/model/errors.ts'
import type { RestCatalog } from '../core/model/model.ts'
import { USER_AGENT } from '../core/model/version.ts'
import { parseJson } from '../core/platform/json-text.ts'
import { fetchWith } from '../http/fetch-url.ts'
import { type Catalog, conflictError } from './catalog.ts'
import type { NewTable, TableMetadata, TableUpdate } from './metadata.ts'

/** Time without data after which a catalog counts as silent, in milliseconds. */
const IDLE_MS = 60_000

type Request = { method?: 'GET' | 'POST'; body?: object; headers?: Record<string, string> }
type CatalogResponse = { status: number; content: unknown }

/**
 * A catalog with the Iceberg REST API (https://iceberg.apache.org/rest-catalog-spec/). A commit states the snapshot that it
 * replaces: of two writers, the catalog refuses the second.
 *
 * `WALLETLAKE_CATALOG_TOKEN` is sent as a bearer token. `WALLETLAKE_CATALOG_CREDENTIAL` (`id:secret`) is exchanged for one, with
 * the scope `WALLETLAKE_CATALOG_SCOPE` (default: `catalog`).
 *
 * @throws CATALOG_FAILED
 */
export async function openRestCatalog(
  { uri, warehouse, namespace }: RestCatalog,
  signal?: AbortSignal,
): Promise<Catalog> {
  const base = uri.replace(/\/+$/, '')
  const send = (path: string, request: Request = {}) => sendTo(base, path, { request, signal })
  const headers = await authorization(send)
  const query = warehouse === undefined ? '' : `?warehouse=${encodeURIComponent(warehouse)}`
  const config = require2xx(base, await send(`config${query}`, { headers }))
  const levels = namespace.split('.')
  const prefix = prefixOf(config)
  const root = `${prefix === undefined ? '' : `${prefix}/`}namespaces`
  const path = (table: string) => `${root}/${encodeURIComponent(levels.join('\u001f'))}/tables/${table}`
  const post = (to: string, body: object) => send(to, { method: 'POST', headers, body })
  return {
    name: base,
    load: async (table) => {
      const response = await send(path(table), { headers })
      return response.status === 404 ? undefined : metadataIn(base, response)
    },
    create: async (table, content) => {
      const create = () => post(path('').slice(0, -1), creationOf(table, content))
      let response = await create()
      if (response.status === 404) {
        require2xx(base, await post(root, { namespace: levels, properties: {} }))
        response = await create()
      }
      return committed(base, table, response)
    },
    commit: async (table, loaded, updates) =>
      committed(
        base,
        table,
        await post(path(table), commitOf({ namespace: levels, name: table }, loaded, updates)),
      ),
  }
}

const creationOf = (name: string, { location, schema, spec, sortOrder, properties }: NewTable) => ({
  name,
  location,
  schema,
  'partition-spec': spec,
  'write-order': sortOrder,
  'stage-create': false,
  properties: { ...properties, 'format-version': '2' },
})

const commitOf = (
  identifier: { namespace: string[]; name: string },
  loaded: TableMetadata,
  updates: readonly TableUpdate[],
) => {
  const current = loaded['current-snapshot-id'] ?? -1
  const requirements = [
    { type: 'assert-table-uuid', uuid: loaded['table-uuid'] },
    { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': current < 0 ? null : current },
  ]
  return { identifier, requirements, updates }
}

async function sendTo(
  base: string,
  path: string,
  {
    request: { method = 'GET', body, headers },
    signal,
  }: { request: Request; signal: AbortSignal | undefined },
): Promise<CatalogResponse> {
  const isForm = body instanceof URLSearchParams
  const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json'
  const init = {
    method,
    headers: {
      ...headers,
      'user-agent': USER_AGENT,
      ...(body === undefined ? {} : { 'content-type': type }),
    },
    ...(body === undefined ? {} : { body: isForm ? body.toString() : JSON.stringify(body) }),
    // Node's getMaxListeners throws for a signal without a maximum, such as that of a run.
    ...(signal === undefined ? {} : { signal: AbortSignal.any([signal]) }),
    redirect: 'error' as const,
    idleMs: IDLE_MS,
  }
  return fetchWith(new URL(`${base}/v1/${path}`), init, async (response) => {
    return { status: response.status, content: parseJson(await response.text()) }
  }).catch((cause: Error) => {
    signal?.throwIfAborted()
    const { message } = cause.cause instanceof Error ? cause.cause : cause
    throw new ExportError('CATALOG_FAILED', `${base} does not answer: ${message}`, {
      cause,
      fix: UNAVAILABLE_FIX,
    })
  })
}

async function authorization(
  send: (path: string, request: Request) => Promise<CatalogResponse>,
): Promise<Record<string, string>> {
  const { env } = process
  const token = env.WALLETLAKE_CATALOG_TOKEN
  const credential = env.WALLETLAKE_CATALOG_CREDENTIAL
  if (token) return { authorization: `Bearer ${token}` }
  if (!credential) return {}
  const [id = '', ...secret] = credential.split(':')
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: id,
    client_secret: secret.join(':'),
    scope: env.WALLETLAKE_CATALOG_SCOPE || 'catalog',
  })
  const { status, content } = await send('oauth/tokens', { method: 'POST', body })
  if (status === 200 && isObject(content) && typeof content.access_token === 'string')
    return { authorization: `Bearer ${content.access_token}` }
  throw new ExportError(
    'CATALOG_FAILED',
    `the catalog does not accept WALLETLAKE_CATALOG_CREDENTIAL (${status})`,
  )
}

function prefixOf(config: unknown): string | undefined {
  if (!isObject(config)) return undefined
  const { defaults, overrides } = config
  for (const each of [overrides, defaults])
    if (isObject(each) && typeof each.prefix === 'string' && each.prefix !== '') return each.prefix
  return undefined
}

/** The metadata after a commit. After a fault of the server, the commit may have been made: the next run looks. */
function committed(base: string, table: string, response: CatalogResponse): TableMetadata {
  if (response.status === 409) throw conflictError(base, table)
  return metadataIn(base, response)
}

function metadataIn(base: string, response: CatalogResponse): TableMetadata {
  const content = require2xx(base, response)
  if (isObject(content) && isMetadata(content.metadata)) return content.metadata
  throw new ExportError(
    'CATALOG_FAILED',
    `${base} did not return the metadata of an Iceberg table of version 2`,
  )
}

const isMetadata = (value: unknown): value is TableMetadata =>
  isObject(value) && value['format-version'] === 2 && Array.isArray(value.schemas)

function require2xx(base: string, { status, content }: CatalogResponse): unknown {
  if (status >= 200 && status < 300) return content
  const error = isObject(content) && isObject(content.error) ? String(content.error.message ?? '') : ''
  const message = `${base} answered ${status}${error === '' ? '' : `: ${error.slice(0, 300)}`}`
  const isRefused = status === 401 || status === 403
  const fix = isRefused ? CREDENTIALS_FIX : status >= 500 || status === 429 ? UNAVAILABLE_FIX : undefined
  throw new ExportError('CATALOG_FAILED', message, { fix })
}

const CREDENTIALS_FIX =
  'The files of the export are complete. Set WALLETLAKE_CATALOG_TOKEN, or WALLETLAKE_CATALOG_CREDENTIAL (id:secret), to credentials that may create and change tables there, then run the same command again: it commits.'
const UNAVAILABLE_FIX =
  'The files of the export are complete. Run the same command again when the catalog works: it finds out what the catalog has committed, and commits the rest.'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
