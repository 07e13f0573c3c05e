import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FAILURES } from '../../src/core/model/errors.ts'
import { type RunOptions, run } from '../../src/export/run.ts'
import { testJob } from '../helpers/jobs.ts'
import { closedUrl } from '../helpers/serve.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { startServer } from '../http/server.ts'

const WALLET = '0xa548f4431ec271b95b8bdf86c85147c3bbbc5a4f'

/** Runs a job of one wallet with short retry delays. Resolves with its notices and outcome. */
async function runAt(baseUrl: string, options: RunOptions = {}) {
  const notices: string[] = []
  const job = testJob({
    addresses: [WALLET],
    output: join(tempFolder(), 'out'),
    service: { baseUrl },
  })
  const retry = { retries: 4, firstDelayMs: 1, maxDelayMs: 2 }
  const { jobs, code } = await run([job], { retry, onNotice: (notice) => notices.push(notice), ...options })
  return { notices, code, error: jobs[0]?.error, stats: jobs[0]?.stats }
}

test('reports a refused connection at the first failure, and only once', async () => {
  const url = await closedUrl()
  const { notices, code, stats } = await runAt(url)
  expect(notices.filter((notice) => notice.includes('retrying'))).toEqual([
    `test: nothing listens at ${url} (ECONNREFUSED); retrying`,
  ])
  expect(FAILURES[code ?? 'BUG'].exit).toBe(5)
  expect(stats?.service).toEqual({
    hasResponded: false,
    lastError: `nothing listens at ${url} (ECONNREFUSED)`,
  })
})

test('ends with exit 5 and a fix if the response is a web page', async () => {
  const { url, received } = await startServer(() => ({
    headers: { 'content-type': 'text/html' },
    body: '<html>',
  }))
  const { code, error } = await runAt(url, { retry: { firstDelayMs: 1 } })
  expect(FAILURES[code ?? 'BUG'].exit).toBe(5)
  expect(error?.message).toContain(`a web page was returned by ${url}/v1/chains/43114/addresses/${WALLET}`)
  expect(error?.message).not.toContain('?')
  expect(error?.fix).toContain('Set the base URL')
  expect(received.length).toBeLessThanOrEqual(3 * 16)
})

test('ends with the fix that names the API if an explorer answers', async () => {
  const { url, received } = await startServer(() => ({
    body: { status: '0', message: 'NOTOK', result: 'Missing/Invalid API Key' },
  }))
  const { code, error } = await runAt(url, { retry: { firstDelayMs: 1 } })
  expect(code).toBe('PAGE_MALFORMED')
  expect(error?.message).toContain(`an answer of an explorer was returned by ${url}/v1/chains/43114/`)
  expect(error?.fix).toMatch(
    /^The base URL is that of an explorer: set service\.api .+ to etherscan or blockscout\.$/,
  )
  expect(received.length).toBeLessThanOrEqual(3 * 16)
})

test('ends with exit 4 and the requested URL if the first response is a 404', async () => {
  const { url } = await startServer(() => ({ status: 404, body: '' }))
  const { code, error, stats } = await runAt(`${url}/other`)
  expect(FAILURES[code ?? 'BUG'].exit).toBe(4)
  expect(stats?.phase).toBe('failed')
  expect(error?.fix).toContain(
    `The request went to ${url}/other/v1/chains/43114/addresses/${WALLET}/transactions.`,
  )
})

test('distinguishes a stopped run from a failed or finished one', async () => {
  const { url } = await startServer(() => ({ body: { transactions: [] } }))
  expect((await runAt(url, { maxRequests: 0 })).stats?.phase).toBe('stopped')
  expect((await runAt(url)).stats?.phase).toBe('done')
})

test('does not report a short failure after a request has succeeded', async () => {
  const page = { transactions: [] }
  const { url } = await startServer((_, count) => (count === 1 ? { status: 503 } : { body: page }))
  const { notices, code, stats } = await runAt(url)
  expect(code).toBeUndefined()
  expect(notices.filter((notice) => notice.includes('retrying'))).toEqual([
    'test: the service answered 503; retrying',
  ])
  expect(stats?.service).toMatchObject({ hasResponded: true, lastError: undefined })
})
