import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { toExportError } from '../core/model/errors.ts'
import { MANIFEST_FILE } from '../core/model/manifest.ts'
import { bindServer, closeServer, createLimitedServer } from '../core/platform/http-server.ts'
import { type PageOptions, renderReport } from './report.ts'

/** A report that is shown on this machine; `url` has a path that nobody guesses. */
export type ServedReport = { url: string; close(): Promise<void> }

const HOST = '127.0.0.1'

/**
 * Shows a report on a free port of this machine alone, made anew when a manifest has changed since the page was asked for.
 * Throws what `report` throws where it cannot be made the first time; later that is what the page says.
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
  const { url } = await bindServer(server, { host: HOST, port: 0 }, 'Stop what takes all ports.')
  return { url: `${url}${path}`, close: () => closeServer(server) }
}

type Pages = () => Promise<string>

/** Renders when a manifest is another one than before; two who ask at once wait for the same page. */
function cachePages(outputs: readonly [string, ...string[]], options: PageOptions): Pages {
  let cached: { version: string; page: Promise<string> } | undefined
  return async () => {
    const version = (await Promise.all(outputs.map(manifestVersion))).join()
    if (cached?.version !== version)
      cached = { version, page: renderReport(outputs, options).then(({ page }) => page) }
    return cached.page
  }
}

async function manifestVersion(output: string): Promise<string> {
  const entry = await stat(join(output, MANIFEST_FILE)).catch(() => undefined)
  return `${entry?.mtimeMs} ${entry?.ino} ${entry?.size}`
}

type ServerContext = { path: string; pages: Pages }

/** Whoever comes by another name than this machine's number was sent here by a page of somebody else. */
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
  } catch (thrown) {
    const { message, fix } = toExportError(thrown)
    response
      .writeHead(503, { ...headers, 'content-type': 'text/plain; charset=utf-8' })
      .end(`${message}\n${fix}\n`)
  }
}
