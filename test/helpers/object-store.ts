import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { BucketLocation } from '../../src/core/model/model.ts'
import { listenOnLoopback } from './serve.ts'

export type ObjectStore = {
  location: BucketLocation
  endpoint: string
  objects: Map<string, Buffer>
  /** Answers a request instead of the store if it returns true. */
  intercept?: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined
  /** Stops the server. The end of the test also stops it. */
  close(): void
}

/** An in-memory object store with one bucket, `lake`. It accepts any key, including keys that no file system accepts. */
export async function startObjectStore(): Promise<ObjectStore> {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'LAKE', AWS_SECRET_ACCESS_KEY: 'lake-secret' })
  const objects = new Map<string, Buffer>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (store.intercept?.(request, response)) return
    const { status, body } = handleRequest(objects, request, Buffer.concat(chunks))
    const headers = { etag: `"${versionOf(body)}"`, 'last-modified': new Date().toUTCString() }
    response.writeHead(status, headers).end(body)
  })
  const port = await listenOnLoopback(server)
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  const endpoint = `http://127.0.0.1:${port}`
  const store: ObjectStore = { endpoint, objects, close, location: { bucket: 'lake', prefix: '', endpoint } }
  return store
}

const versionOf = (body: Buffer) => createHash('md5').update(body).digest('hex')

type StoreResponse = { status: number; body: Buffer }

function handleRequest(objects: Map<string, Buffer>, request: IncomingMessage, body: Buffer): StoreResponse {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://h')
  const key = decodeURIComponent(pathname.replace(/^\/lake\/?/, ''))
  const text = (status: number, xml: string) => ({ status, body: Buffer.from(xml) })
  if (request.method === 'PUT') return put(objects, { key, body, headers: request.headers })
  if (request.method === 'POST') {
    for (const [, name = ''] of body.toString().matchAll(/<Key>(.*?)<\/Key>/g)) objects.delete(name)
    return text(200, '<DeleteResult/>')
  }
  if (searchParams.has('uploads')) return text(200, '<ListMultipartUploadsResult/>')
  if (searchParams.has('list-type')) return text(200, listing(objects, searchParams.get('prefix') ?? ''))
  const found = objects.get(key)
  return found === undefined
    ? text(404, '<Error><Code>NoSuchKey</Code></Error>')
    : { status: 200, body: found }
}

type PutRequest = { key: string; body: Buffer; headers: IncomingMessage['headers'] }

function put(objects: Map<string, Buffer>, { key, body, headers }: PutRequest): StoreResponse {
  const found = objects.get(key)
  const version = found === undefined ? undefined : versionOf(found)
  const ifMatch = headers['if-match']?.replaceAll('"', '')
  if (headers['if-none-match'] === '*' && found !== undefined) return { status: 412, body }
  if (ifMatch !== undefined && ifMatch !== version) return { status: 412, body }
  objects.set(key, body)
  return { status: 200, body }
}

function listing(objects: Map<string, Buffer>, prefix: string): string {
  const listed = [...objects].filter(([key]) => key.startsWith(prefix))
  const contents = listed.map(
    ([key, { length }]) => `<Contents><Key>${escapeXml(key)}</Key><Size>${length}</Size></Contents>`,
  )
  return `<ListBucketResult><IsTruncated>false</IsTruncated>${contents.join('')}</ListBucketResult>`
}

const escapeXml = (text: string) => text.replace(/[&<>\p{Cc}]/gu, (char) => `&#${char.charCodeAt(0)};`)
