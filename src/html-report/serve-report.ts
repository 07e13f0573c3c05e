import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { toExportError } from '../core/model/errors.ts'
import { MANIFEST_FILE, RECONCILIATION_FILE } from '../core/model/manifest.ts'
import { entryAt } from '../core/platform/entry.ts'
import { bindServer, closeServer, createLimitedServer } from '../core/platform/http-server.ts'
import { type PageOptions, renderReport } from './report.ts'

/** A report served on this machine. The path of `url` is random and cannot be guessed. */
export type ServedReport = { url: string; close(): Promise<void> }

const HOST = '127.0.0.1'

/**
 * Serves a report on a free port of 127.0.0.1. The page is rendered again when a manifest, or a file that the options name, has
 * changed since the last request, and after a failure. If that fails, the response is a 503 with the error as text.
 *
 * @throws the same errors as `report` if the page cannot be rendered the first time
 */
export async function serveReport(
  outputs: readonly [string, ...string[]],
  options: PageOptions = {},
): Promise<ServedReport> {
  const path = `/${randomBytes(16).toString('hex')}/`
  const pages = cachePages(outputs, options)
  await pages()
  const server = createLimitedServer(
    (request, response) => void handleRequest(request, response, { path, pages }),
  )
  const { url } = await bindServer(server, { host: HOST, port: 0 }, 'Free a port on 127.0.0.1 and try again.')
  return { url: `${url}${path}`, close: () => closeServer(server) }
}

type Pages = () => Promise<string>

/**
 * Renders the page if a file that it is made from has changed, or if the last rendering failed: its cause need not be in
 * one of these files. Concurrent requests wait for the same rendering.
 */
function cachePages(outputs: readonly [string, ...string[]], options: PageOptions): Pages {
  const { names, opening, adjustments, prices } = options
  const inputs = [names, opening, adjustments, prices].filter((file) => typeof file === 'string')
  const ofOutput = (output: string) => [MANIFEST_FILE, RECONCILIATION_FILE].map((file) => join(output, file))
  const files = [...outputs.flatMap(ofOutput), ...inputs]
  let cached: { version: string; page: Promise<string> } | undefined
  return async () => {
    const version = (await Promise.all(files.map(fileVersion))).join()
    if (cached?.version !== version) {
      const rendered = { version, page: renderReport(outputs, options).then(({ page }) => page) }
      cached = rendered
      rendered.page.catch(() => {
        if (cached === rendered) cached = undefined
      })
    }
    return cached.page
  }
}

async function fileVersion(file: string): Promise<string> {
  const entry = await entryAt(file)
  return `${entry?.mtimeMs} ${entry?.ino} ${entry?.size}`
}

type ServerContext = { path: string; pages: Pages }

/**
 * Answers `GET` requests for the report's path; everything else gets a 404. The Host header must be 127.0.0.1, so that a web
 * page cannot read the report through a host name of its own (DNS rebinding).
 */
async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { path, pages }: ServerContext,
): Promise<void> {
  const isReportRequest = request.headers.host?.startsWith(`${HOST}:`) && request.url === path
  if (!isReportRequest || request.method !== 'GET') return void response.writeHead(404).end()
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  }
  try {
    const page = await pages()
    response.writeHead(200, headers).end(page)
  } catch (error) {
    const { message, fix } = toExportError(error)
    response
      .writeHead(503, { ...headers, 'content-type': 'text/plain; charset=utf-8' })
      .end(`${message}\n${fix}\n`)
  }
}
