import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import { listen } from '../../../src/demo-server/listen.ts'
import { runCommand } from '../../helpers/command.ts'
import { demoWallets } from '../../helpers/node-data.ts'
import { serve } from '../../helpers/serve.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

/** Its forms in a URL and in Base64 differ from it. */
const KEY = 'DISTINCTIVE+K3Y/of=tests'
const FORMS = [KEY, encodeURIComponent(KEY), Buffer.from(KEY).toString('base64'), 'DISTINCTIVE']

const jobArguments = (api: string, { url, output }: { url: string; output: string }) => [
  'run',
  '--chain',
  '43114',
  '--address',
  demoWallets[0] ?? '',
  '--output',
  output,
  '--base-url',
  url,
  '--api',
  api,
  '--report',
  '--reconcile',
  '--verbose',
  '--json',
]

/** The files below a folder that contain the key, compressed or not. Throws if there are no files. */
function filesWithKey(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  expect(files.length).toBeGreaterThan(0)
  return files
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => containsKey(unpacked(readFileSync(path)).toString('latin1')))
}

const unpacked = (bytes: Buffer) => (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes)

const containsKey = (text: string) => FORMS.some((form) => text.includes(form))

test.for(['etherscan', 'blockscout'])(
  'the key for %s is in no file and no message of a run with its reconciliation and report',
  async (api) => {
    const service = await listen(createDataService({ api: api as 'etherscan', keys: [KEY] }), { port: 0 })
    onTestFinished(() => service.close())
    const output = join(tempFolder(), 'out')
    const { exit, stdout, stderr } = await runCommand(jobArguments(api, { url: service.url, output }), {
      WALLETLAKE_API_KEY: KEY,
    })
    // Balances differ, because tokens of the demo chain move without Transfer events. A request without the key exits with 3.
    expect({ exit, withKey: containsKey(stdout + stderr) }).toEqual({ exit: 10, withKey: false })
    const again = await runCommand(['reconcile', output, '--base-url', `${service.url}/`], {
      WALLETLAKE_API_KEY: KEY,
    })
    expect({ exit: again.exit, withKey: containsKey(again.stdout + again.stderr) }).toEqual({
      exit: 10,
      withKey: false,
    })
    expect(readdirSync(output)).toEqual(
      expect.arrayContaining(['manifest.json', 'reconciliation.json', 'runs']),
    )
    expect(filesWithKey(output)).toEqual([])
  },
)

test.for([
  {
    what: 'refused by the service',
    status: 200,
    body: { status: '0', message: 'NOTOK', result: 'Invalid API Key ' },
  },
  {
    what: 'repeated in an error',
    status: 400,
    body: { status: '0', message: 'Unknown action', result: null },
  },
  { what: 'repeated by a proxy', status: 502, body: undefined },
])('a key that is $what is in no file and no message', async ({ status, body }) => {
  let received = ''
  const url = await serve(({ url = '' }, response) => {
    received += url
    const page = `<html>${url} could not be reached</html>`
    response.writeHead(status).end(body === undefined ? page : JSON.stringify({ ...body, url, echo: KEY }))
  })
  const output = join(tempFolder(), 'out')
  const { exit, stdout, stderr } = await runCommand(
    [...jobArguments('etherscan', { url, output }), '--max-requests', '5'],
    { WALLETLAKE_API_KEY: KEY },
  )
  expect(exit).not.toBe(0)
  expect(received).toContain(encodeURIComponent(KEY))
  expect(containsKey(stdout + stderr)).toBe(false)
  expect(filesWithKey(output)).toEqual([])
})
