import { createServer, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { onTestFinished } from 'vitest'

export type ProxyOptions = {
  /** Where all plain requests go; CONNECT goes where it asks for. */
  leadsTo?: string
  /** `user:password`; undefined: none is asked for. */
  password?: string
}

/** A forward proxy on a free loopback port, which notes what it is asked for; it ends with the test. */
export async function startProxy({
  leadsTo,
  password,
}: ProxyOptions): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const wanted = password && `Basic ${Buffer.from(password).toString('base64')}`
  const isRefused = ({ headers }: IncomingMessage) =>
    wanted !== undefined && headers['proxy-authorization'] !== wanted
  const server = createServer((received, response) => {
    asked.push(`${received.method} ${received.url}`)
    if (isRefused(received)) return void response.writeHead(407).end()
    const { pathname, search } = new URL(received.url ?? '')
    const { hostname, port } = new URL(leadsTo ?? '')
    const { method, headers } = received
    const onward = request({ hostname, port, method, headers, path: pathname + search }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    received.pipe(onward)
  })
  server.on('connect', (received, socket) => {
    asked.push(`CONNECT ${received.url}`)
    if (isRefused(received)) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const { hostname, port } = new URL(`http://${received.url}`)
    const onward = connect({ host: hostname, port: Number(port) }, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      onward.pipe(socket).pipe(onward)
    })
    for (const end of [onward, socket]) end.on('error', () => [onward, socket].map((each) => each.destroy()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}
