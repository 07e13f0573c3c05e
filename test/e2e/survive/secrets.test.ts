import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import { startCommand } from '../../helpers/command.ts'
import { FAULT_KINDS } from '../../helpers/fault-kinds.ts'
import { faultWhere, respondWith } from '../../helpers/faults.ts'
import { type Fault, startLoopback } from '../../helpers/loopback.ts'
import { demoWallets } from '../../helpers/node-data.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'
import { testSample } from '../../helpers/test-sample.ts'

const KEY = 'wl-S3cr3t-9f8e7d6c5b4a'
const service = createDataService({ keys: [KEY] })

type Scene = { fault?: Fault; args?: string[]; env?: NodeJS.ProcessEnv; during?: (pid: number) => void }

/** Runs with a key and returns everything that the run wrote anywhere as one text. */
async function everythingOf({ fault, args = [], env = {}, during }: Scene) {
  const folder = tempFolder()
  mkdirSync(join(folder, 'reports'))
  const [job, output] = [join(folder, 'job.json'), join(folder, 'out')]
  const addresses = demoWallets.slice(-4)
  const options = {
    chain: '43114',
    endBlock: 421,
    addresses,
    output,
    keepRaw: true,
    service: { timeout: '1s' },
  }
  writeFileSync(job, JSON.stringify(options))
  let child: ReturnType<typeof startCommand> | undefined
  const { url, requests } = await startLoopback(service, (one) => {
    if (one.count === 2) during?.(child?.pid ?? 0)
    return fault?.(one)
  })
  const given = { WALLETLAKE_API_KEY: KEY, NODE_REPORT_DIRECTORY: join(folder, 'reports'), ...env }
  child = startCommand(['run', job, '--base-url', url, ...args], given, { cwd: join(folder, 'reports') })
  const { exit, stdout, stderr } = await child.ended
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const written = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
  expect(requests[0]?.headers['x-service-api-key']).toBe(KEY)
  return { exit, names: files.map(({ name }) => name), all: [stdout, stderr, ...written].join('\n') }
}

const base64Of = (text: string) => Buffer.from(text).toString('base64')
const hexOf = (text: string) => Buffer.from(text).toString('hex')
const percentOf = (text: string) => hexOf(text).replace(/../g, '%$&')

/** Expects no key or significant part of it, plain or encoded. A failure does not print the text. */
function expectNoKey(text: string): void {
  const base64 = ['', 'a', 'ab'].map((before) => base64Of(before + KEY).slice(4, 24))
  const forms = [KEY, KEY.slice(3), ...base64, encodeURIComponent(KEY), percentOf(KEY), hexOf(KEY)]
  expect(forms.filter((form) => text.includes(form))).toEqual([])
}

testSample(
  1,
  [['--json', '--log-format', 'json', '--verbose'], ['--verbose']],
  'no output of a successful run with %j contains the key',
  async (args) => {
    const debug = { NODE_DEBUG: 'undici,http,net,tls,stream,fs,worker,timer', UNDICI_DEBUG: '1', DEBUG: '*' }
    const { exit, all } = await everythingOf({ args, env: debug })
    expect(exit).toBe(0)
    expectNoKey(all)
  },
)

test('no error message of any fault contains the key', async () => {
  const kinds = FAULT_KINDS.filter(
    ({ timeoutMs, what }) => timeoutMs === undefined && !what.startsWith('429'),
  )
  const fault: Fault = (request) => {
    const kind = kinds[request.count % kinds.length]
    if (request.count > kinds.length || kind?.where?.(request) === false) return undefined
    return async (response, answer) => void (await kind?.respond(response, answer, request))
  }
  const { all } = await everythingOf({ fault, args: ['--verbose', '--deadline', '6s'] })
  expect(all).toContain('retrying')
  expectNoKey(all)
})

testSample(
  1,
  [
    { what: 'repeats the key', status: 400, body: JSON.stringify({ message: `bad key ${KEY}`, error: KEY }) },
    { what: 'repeats the key in a list', status: 401, body: JSON.stringify({ message: [KEY, `x${KEY}x`] }) },
    {
      what: 'repeats the key in a query',
      status: 404,
      body: JSON.stringify({ message: `/v1?api_key=${KEY}` }),
    },
    {
      what: 'repeats the key in base64',
      status: 400,
      body: JSON.stringify({
        message: [base64Of(KEY), `Basic ${base64Of(`me:${KEY}`)}`, base64Of(`u:${KEY}`)],
      }),
    },
    {
      what: 'repeats the key percent-encoded and in hexadecimal',
      status: 401,
      body: JSON.stringify({ message: `${percentOf(KEY)} ${percentOf(KEY).toUpperCase()} ${hexOf(KEY)}` }),
    },
  ],
  'no error message contains the key if the service $what',
  async ({ status, body }) => {
    const fault = faultWhere(({ count }) => count > 2, respondWith(status, body))
    const { exit, all } = await everythingOf({ fault, args: ['--verbose'] })
    expect([3, 4]).toContain(exit)
    expectNoKey(all)
  },
)

test('the key is not sent to another host after a redirect', async () => {
  const other = await startLoopback(service)
  for (const status of [302, 307]) {
    const away = respondWith(status, '', {
      location: `${other.url}/v1/stolen`,
      refresh: `0; url=${other.url}`,
    })
    const { exit, all } = await everythingOf({ fault: faultWhere(() => true, away) })
    expect(exit).toBe(4)
    expectNoKey(all)
  }
  expect(other.requests).toEqual([])
})

test('a process report written during a run contains no key', { tags: ['long'] }, async () => {
  const { exit, names, all } = await everythingOf({
    env: { NODE_OPTIONS: '--report-on-signal --report-signal=SIGUSR2' },
    during: (pid) => process.kill(pid, 'SIGUSR2'),
  })
  expect(exit).toBe(0)
  expect(names.filter((name) => name.startsWith('report.'))).not.toEqual([])
  expect(all).toContain('"environmentVariables"')
  expectNoKey(all)
})

/** Throws an uncaught exception when the first part file is created, after the first requests. */
const CRASH = `data:text/javascript,${encodeURIComponent(
  "import fs from 'node:fs';import{syncBuiltinESMExports as s}from'node:module';const r=fs.promises.open;fs.promises.open=(...a)=>{if(String(a[0]).includes('/parts/'))setTimeout(()=>{throw new TypeError('an uncaught one')});return r(...a)};s()",
)}`

test('an uncaught exception and its report contain no key', { tags: ['long'] }, async () => {
  const { exit, names, all } = await everythingOf({
    env: {
      NODE_OPTIONS: `--import ${CRASH} --report-uncaught-exception --trace-uncaught`,
    },
  })
  expect(exit).not.toBe(0)
  expect(all).toContain('an uncaught one')
  expect(names.filter((name) => name.startsWith('report.'))).not.toEqual([])
  expectNoKey(all)
})

test('no message about a retry contains the key in any encoding', { tags: ['long'] }, async () => {
  const message = [base64Of(`x${KEY}`), percentOf(KEY), hexOf(KEY), JSON.stringify(KEY)].join(' and ')
  const busy = respondWith(503, JSON.stringify({ message, statusCode: 503, error: KEY }))
  const fault = faultWhere(({ count }) => count === 3, busy)
  const { exit, all } = await everythingOf({ fault, args: ['--verbose'] })
  expect(exit).toBe(0)
  expect(all).toContain('the service answered 503: … and … and … and')
  expectNoKey(all)
})
