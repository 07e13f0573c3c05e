import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ExportError } from './errors.ts'

/** Where a server listens: a name or address of this machine, and a port; 0 takes any free one. */
export type Endpoint = { host: string; port: number }

/** Where a server came to listen; `url` has no slash at its end. */
export type BoundServer = { url: string; port: number }

/** Makes a server listen. Throws USAGE with this fix where the host or port cannot be had. */
export async function bindServer(
  server: Server,
  { host, port }: Endpoint,
  fix: string,
): Promise<BoundServer> {
  if (!(Number.isInteger(port) && port >= 0 && port <= 65_535))
    throw new ExportError('USAGE', `a port is a number from 0 to 65535, not ${port}`, { fix })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code ?? cause.message
      reject(new ExportError('USAGE', `cannot listen on ${host}:${port}: ${why}`, { cause, fix }))
    })
    server.listen({ host, port }, resolve)
  })
  const bound = server.address() as AddressInfo
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}`, port: bound.port }
}

/** Ends every connection and resolves when the port is free again. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/**
 * Reads a request's body up to the first byte after `most`, so that a longer one shows as longer; undefined where the
 * sender breaks off.
 */
export function readBody(request: IncomingMessage, most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  return new Promise((resolve) => {
    const done = () => resolve(Buffer.concat(chunks))
    request.on('data', (chunk: Buffer) => {
      if (bytes > most) return
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > most) done()
    })
    request.on('end', done)
    request.on('error', () => resolve(undefined))
    request.on('close', () => resolve(undefined))
  })
}
