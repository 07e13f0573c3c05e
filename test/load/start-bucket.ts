import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { listenOnLoopback } from '../helpers/serve.ts'

type Override = (request: IncomingMessage, response: ServerResponse) => boolean

/** Serves a folder over HTTP like a bucket. `override` may respond itself; it then returns true. */
export async function startBucket(folder: string, override: Override = () => false) {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(request.url ?? '')
    if (override(request, response)) return
    try {
      response.end(readFileSync(join(folder, new URL(request.url ?? '/', 'http://bucket').pathname)))
    } catch {
      response.writeHead(404).end()
    }
  })
  return { host: `127.0.0.1:${await listenOnLoopback(server)}`, requests }
}
