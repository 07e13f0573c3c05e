import type { IncomingMessage, ServerResponse } from 'node:http'
import { deflateRawSync } from 'node:zlib'
import { serve } from '../../helpers/serve.ts'

export type Answer = (
  url: URL,
  request: IncomingMessage,
) => string | Buffer | { status: number; body?: string; headers?: Record<string, string> }
type Received = { path: string; query: URLSearchParams; headers: IncomingMessage['headers'] }

/** Serves the answers of one interface, and records its requests. */
export async function serveAnswers(answer: Answer): Promise<{ url: string; requests: Received[] }> {
  const requests: Received[] = []
  const url = await serve((request: IncomingMessage, response: ServerResponse) => {
    const asked = new URL(request.url ?? '/', 'http://loopback')
    requests.push({ path: asked.pathname, query: asked.searchParams, headers: request.headers })
    const answered = answer(asked, request)
    const isBody = typeof answered === 'string' || Buffer.isBuffer(answered)
    const { status, body = '', headers = {} } = isBody ? { status: 200, body: answered } : answered
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  })
  return { url, requests }
}

type LlamaRecord = { timestamp: number; price: number; confidence?: number }

/** Answers as `coins.llama.fi/batchHistorical` does, which leaves out coins and times without a record. */
export const llamaAnswer =
  (recordOf: (coin: string, seconds: number) => LlamaRecord | undefined): Answer =>
  (url) => {
    const asked = JSON.parse(url.searchParams.get('coins') ?? '') as Record<string, number[]>
    const coins = Object.entries(asked).flatMap(([coin, times]) => {
      const prices = times.flatMap((seconds) => recordOf(coin, seconds) ?? [])
      return prices.length === 0 ? [] : [[coin, { symbol: 'X', prices }]]
    })
    return JSON.stringify({ coins: Object.fromEntries(coins) })
  }

/** A ZIP archive of one file, as the European Central Bank serves its rates (APPNOTE 4.3.7, without a checksum). */
export function zipOf(name: string, text: string): Buffer {
  const compressed = deflateRawSync(text)
  const header = Buffer.alloc(30)
  header.write('PK\x03\x04', 'latin1')
  header.writeUInt16LE(20, 4)
  header.writeUInt16LE(8, 8)
  header.writeUInt32LE(compressed.length, 18)
  header.writeUInt32LE(text.length, 22)
  header.writeUInt16LE(name.length, 26)
  const directory = Buffer.from('PK\x01\x02, and what follows', 'latin1')
  return Buffer.concat([header, Buffer.from(name), compressed, directory])
}
