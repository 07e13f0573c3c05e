import { createServer, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { listenOnLoopback } from './serve.ts'

export type ProxyOptions = {
  /** Target of all plain HTTP requests. CONNECT requests go to the host that they name. */
  target?: string
  /** Required credentials, `user:password`. @default none */
  password?: string
}

/** Starts a forward proxy on a free loopback port that records its requests. It is closed when the test ends. */
export async function startProxy({
  target,
  password,
}: ProxyOptions): Promise<{ url: string; requests: string[] }> {
  const requests: string[] = []
  const expectedHeader = password && `Basic ${Buffer.from(password).toString('base64')}`
  const isRefused = ({ headers }: IncomingMessage) =>
    expectedHeader !== undefined && headers['proxy-authorization'] !== expectedHeader
  const server = createServer((received, response) => {
    requests.push(`${received.method} ${received.url}`)
    if (isRefused(received)) return void response.writeHead(407).end()
    const { pathname, search } = new URL(received.url ?? '')
    const { hostname, port } = new URL(target ?? '')
    const { method, headers } = received
    const upstream = request(
      { hostname, port, method, headers, path: pathname + search },
      (upstreamResponse) => {
        response.writeHead(upstreamResponse.statusCode ?? 500, upstreamResponse.headers)
        upstreamResponse.pipe(response)
      },
    )
    upstream.on('error', () => response.destroy())
    received.pipe(upstream)
  })
  server.on('connect', (received, socket) => {
    requests.push(`CONNECT ${received.url}`)
    if (isRefused(received)) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const { hostname, port } = new URL(`http://${received.url}`)
    const upstream = connect({ host: hostname, port: Number(port) }, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      upstream.pipe(socket).pipe(upstream)
    })
    for (const end of [upstream, socket])
      end.on('error', () => [upstream, socket].map((each) => each.destroy()))
  })
  return { url: `http://127.0.0.1:${await listenOnLoopback(server)}`, requests }
}
