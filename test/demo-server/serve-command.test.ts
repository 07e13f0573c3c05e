import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { runCommand, startCommand } from '../helpers/command.ts'
import { startReceiver } from './receiver.ts'

const BUSIEST = '0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f'

async function serve(args: readonly string[]) {
  const child = startCommand(['serve', '--port', '0', ...args])
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await once(child.stdout as NodeJS.ReadableStream, 'data')
  return { child, url: /http:\S+/.exec(String(line))?.[0] ?? '' }
}

async function watch(service: string, url: string, addresses: readonly string[]) {
  const body = { eventType: 'address_activity', url, chainId: '43114', metadata: { addresses } }
  const response = await fetch(`${service}/v1/webhooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as { id: string } }
}

test('serve --replay adds blocks and delivers them until it is stopped', async () => {
  const receiver = await startReceiver((count) => (count === 0 ? 500 : 200))
  const { child, url } = await serve(['--replay', '0.02', '--replay-from', '100'])
  const { id } = (await watch(url, receiver.url, [BUSIEST])).body
  await receiver.arrived(5)
  expect(Number(receiver.received[4]?.body.event.transaction.blockNumber)).toBeGreaterThan(100)
  child.kill('SIGTERM')
  const { exit, stderr } = await child.ended
  expect(exit).toBe(0)
  expect(stderr).toContain(`delivery to webhook ${id} answered 500: again in 10 s`)
})

test('serve --webhook-addresses sets the maximum number of addresses', async () => {
  const addresses = Array.from({ length: 6 }, (_, at) => `0x${String(at).padStart(40, '0')}`)
  const { url } = await serve(['--webhook-addresses', '6'])
  expect((await watch(url, 'http://127.0.0.1:9/', addresses)).status).toBe(201)
})

test('serve --api answers as an explorer, and names its quirks', async () => {
  const { url } = await serve(['--api', 'etherscan', '--quirk', 'free-plan'])
  const query = `chainid=43114&module=account&action=txlist&address=${BUSIEST}`
  const answer = (await (await fetch(`${url}/v2/api?${query}`)).json()) as { result: unknown[] }
  expect(answer.result).toHaveLength(1_000)
})

test.for([
  { args: ['--api', 'none'], message: 'data-api, etherscan, blockscout' },
  { args: ['--api', 'etherscan', '--quirk', 'fee-cap'], message: 'the API etherscan has no quirk "fee-cap"' },
  {
    args: ['--api', 'blockscout', '--signature', 'raw'],
    message: '--signature needs webhooks, which --api blockscout does not have',
  },
  { args: ['--replay', '0'], message: 'a positive interval per block' },
  { args: ['--replay', 'x'], message: '--replay: found x, expected a number' },
  { args: ['--replay', '1', '--replay-from', '-4'], message: 'a whole number, but -4' },
  { args: ['--replay-from', '4'], message: '--replay-from needs --replay' },
  { args: ['--signature', 'none'], message: 'signature' },
])('serve rejects $args', async ({ args, message }) => {
  const { exit, stderr } = await runCommand(['serve', '--port', '0', ...args])
  expect(stderr).toContain(message)
  expect(exit).toBe(2)
})
