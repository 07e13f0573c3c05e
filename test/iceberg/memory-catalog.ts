import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import type { RestCatalog } from '../../src/core/model/model.ts'
import { applyUpdates, createMetadata, type TableMetadata } from '../../src/iceberg/metadata.ts'
import { serve } from '../helpers/serve.ts'

export type MemoryCatalog = {
  catalog: RestCatalog
  /** By namespace and name. */
  tables: Map<string, TableMetadata>
  /**
   * Called before and after each request takes effect; answers it instead of the catalog if it returns true. `number` counts
   * from 1.
   */
  intercept: ((request: Intercepted, response: ServerResponse) => boolean) | undefined
}

type Intercepted = { method: string; path: string; number: number; when: 'before' | 'after' }

/** A REST catalog in this process. `rest-catalog.py` is one with pyiceberg's rules. */
export async function startMemoryCatalog(): Promise<MemoryCatalog> {
  const tables = new Map<string, TableMetadata>()
  const namespaces = new Set<string>()
  let number = 0
  const uri = await serve(async (request, response) => {
    number += 1
    const intercepted = { method: request.method ?? '', path: request.url ?? '', number }
    if (started.intercept?.({ ...intercepted, when: 'before' }, response)) return
    const { status, content } = await answer(request, { tables, namespaces })
    if (started.intercept?.({ ...intercepted, when: 'after' }, response)) return
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content))
  })
  const started: MemoryCatalog = {
    catalog: { uri, namespace: 'walletlake' },
    tables,
    intercept: undefined,
  }
  return started
}

type State = { tables: Map<string, TableMetadata>; namespaces: Set<string> }
type Answer = { status: number; content: object }

const failure = (status: number, message: string): Answer => ({ status, content: { error: { message } } })
const tableAnswer = (metadata: TableMetadata | undefined): Answer =>
  metadata === undefined
    ? failure(404, 'no such table')
    : { status: 200, content: { 'metadata-location': 'memory:', metadata } }

// biome-ignore lint/suspicious/noExplicitAny: the bodies of a protocol that this server does not check
type Body = any

async function answer(request: IncomingMessage, { tables, namespaces }: State): Promise<Answer> {
  const [, , ...path] = (request.url ?? '').split('?')[0]?.split('/') ?? []
  if (path[0] === 'config') return { status: 200, content: { defaults: {}, overrides: {} } }
  const [, namespace = '', , name] = path
  const key = `${namespace} ${name}`
  if (request.method === 'GET') return tableAnswer(tables.get(key))
  const body: Body = await json(request)
  if (path.length === 1) {
    namespaces.add(body.namespace.join('\u001f'))
    return { status: 200, content: body }
  }
  if (!namespaces.has(decodeURIComponent(namespace))) return failure(404, 'no such namespace')
  if (name === undefined) {
    const created = `${namespace} ${body.name}`
    if (tables.has(created)) return failure(409, 'the table exists')
    const { location, properties, schema, 'partition-spec': spec, 'write-order': sortOrder } = body
    tables.set(created, createMetadata({ location, properties, schema, spec, sortOrder }))
    return tableAnswer(tables.get(created))
  }
  const before = tables.get(key)
  if (before === undefined) return failure(404, 'no such table')
  for (const requirement of body.requirements)
    if (
      requirement.type === 'assert-ref-snapshot-id' &&
      requirement['snapshot-id'] !== (before['current-snapshot-id'] ?? null)
    )
      return failure(409, 'main has another snapshot')
  tables.set(key, applyUpdates(before, body.updates))
  return tableAnswer(tables.get(key))
}
