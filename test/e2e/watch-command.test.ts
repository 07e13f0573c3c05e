import { createHmac } from 'node:crypto'
import { copyFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataServiceOptions } from '../../src/demo-server/data-service.ts'
import { listen } from '../../src/demo-server/listen.ts'
import { runCommand, startCommand } from '../helpers/command.ts'
import { writeJobFile } from '../helpers/jobs.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { readManifest } from '../helpers/read-output.ts'
import { clientOf } from '../http/server.ts'

const WALLETS = demoWallets.slice(0, 6)
const PUBLIC = 'https://me.example/hook'

const writeJob = () => writeJobFile('six', { addresses: WALLETS })

async function startChain(options: DataServiceOptions = {}) {
  const service = createDataService({ replay: { from: 50 }, deliveryDelaysMs: [], ...options })
  const { url, close } = await listen(service)
  onTestFinished(close)
  return { service, url, client: clientOf(url, { apiKey: options.keys?.[0] }) }
}

/** Starts a watch. `said` resolves with stderr once it matches a pattern. */
function startWatch(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = startCommand(['watch', ...args, '--listen', '127.0.0.1:0'], env)
  onTestFinished(() => void child.kill('SIGKILL'))
  let heard = ''
  const waiting = new Set<() => void>()
  child.stderr?.on('data', (chunk) => {
    heard += String(chunk)
    for (const check of waiting) check()
  })
  const said = (words: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const check = () => {
        const match = words.exec(heard)
        if (match !== null) resolve(match)
      }
      waiting.add(check)
      check()
      void child.ended.then(({ stderr }) => reject(new Error(`it ended: ${stderr}`)))
    })
  return { child, said }
}

test('exports after an event, and ends on SIGTERM', async () => {
  const { url, service, client } = await startChain({ keys: ['right-secret-key'] })
  const secret = await client.rotateSharedSecret()
  const { job, output } = writeJob()
  const args = [job, '--base-url', url, '--receiver-url', PUBLIC, '--debounce', '1ms', '--catch-up', '1h']
  const { child, said } = startWatch(args, { WALLETLAKE_API_KEY: 'right-secret-key' })
  await said(/complete, run at the start/)
  const [, at = ''] = await said(/events are received on (\S+)/)
  const [hook] = (await client.webhooksPage()).webhooks
  const before = readManifest(output).coverage[0]?.toBlock
  await service.advance(30)
  // The public URL is not reachable here, so the test delivers the event itself. Unsigned, it is rejected.
  const path = new URL(hook?.url ?? '').pathname
  const body = '{"event":{}}'
  expect((await fetch(at + path, { method: 'POST', body })).status).toBe(401)
  const signature = createHmac('sha256', Buffer.from(secret, 'hex')).update(body).digest('base64')
  const signed = await fetch(at + path, { method: 'POST', body, headers: { 'x-signature': signature } })
  expect(signed.status).toBe(200)
  await said(/complete, run after an event/)
  expect(readManifest(output).coverage[0]?.toBlock).toBeGreaterThan(before ?? 0)
  child.kill('SIGTERM')
  const { exit, stdout, stderr } = await child.ended
  expect({ exit, stdout }).toEqual({ exit: 143, stdout: '' })
  expect(stderr).toMatch(/\nTERMINATED: .+\nfix: .+\n$/)
  for (const hidden of [secret, 'secret-key', path.split('/').at(-1) ?? ''])
    expect(stderr).not.toContain(hidden)
})

test('exits with 130 on SIGINT and leaves its webhooks, which can be listed and removed', {
  tags: ['long'],
}, async () => {
  const { url, client } = await startChain()
  const { job } = writeJob()
  const at = ['--base-url', url]
  const { child, said } = startWatch([job, ...at, '--receiver-url', `${PUBLIC}/`])
  await said(/2 webhooks for 6 wallets \(2 created, 0 changed, 0 dropped\)/)
  await said(/complete, run at the start/)
  child.kill('SIGINT')
  expect((await child.ended).exit).toBe(130)
  const list = await runCommand(['webhooks', 'list', job, ...at])
  expect(list.stdout.trim().split('\n')).toHaveLength(2)
  expect(list.stdout).toMatch(
    / active {2}chain 43114 {2}5 wallets {2}walletlake six {2}https:\/\/me.example\/hook\/[0-9a-f]{4}…\n/,
  )
  const other = await runCommand(['webhooks', 'remove', '--all-of-url', 'https://me.example/ho', ...at])
  expect(other).toMatchObject({ exit: 0, stdout: 'no webhooks\n' })
  const removed = await runCommand(['webhooks', 'remove', job, ...at])
  expect(removed.stdout.match(/ removed /g)).toHaveLength(2)
  expect((await client.webhooksPage({ status: 'active' })).webhooks).toEqual([])
})

test('lists and removes all webhooks with a receiver at a URL', async () => {
  const { url, client } = await startChain()
  const hook = { eventType: 'address_activity', chainId: '1', metadata: { addresses: WALLETS.slice(0, 1) } }
  for (const receiver of [PUBLIC, `${PUBLIC}/a`, `${PUBLIC}b`])
    await client.createWebhook({ ...hook, url: receiver })
  const args = ['--all-of-url', PUBLIC, '--base-url', url]
  const { stdout } = await runCommand(['webhooks', 'list', ...args, '--json'])
  expect(JSON.parse(stdout).map((one: { url: string }) => one.url)).toEqual([PUBLIC, `${PUBLIC}/a`])
  expect((await runCommand(['webhooks', 'remove', ...args])).exit).toBe(0)
  const left = (await client.webhooksPage({ status: 'active' })).webhooks
  expect(left.map((one) => one.url)).toEqual([`${PUBLIC}b`])
})

const receiver = ['--receiver-url', PUBLIC]

test.for([
  { args: ['watch', 'JOB'], says: '--receiver-url: found nothing' },
  { args: ['watch', 'JOB', '--receiver-url', 'me.example'], says: 'found me.example' },
  { args: ['watch', 'JOB', '--receiver-url', 'https://u:pass-word@me.example'], says: 'not shown' },
  { args: ['watch', 'JOB', '--receiver-url', 'https://me.example/?key=pass-word'], says: 'not shown' },
  { args: ['watch', 'JOB', ...receiver, '--listen', 'here'], says: '--listen' },
  { args: ['watch', 'JOB', ...receiver, '--listen', '127.0.0.1:70000'], says: '--listen' },
  { args: ['watch', 'JOB', ...receiver, '--addresses-per-webhook', '0'], says: '--addresses-per-webhook' },
  { args: ['watch', 'JOB', ...receiver, '--catch-up', 'often'], says: '--catch-up' },
  { args: ['watch', 'JOB', ...receiver, '--debounce', '5'], says: '--debounce' },
  { args: ['watch', 'JOB', ...receiver, '--secret-scheme', 'md5'], says: 'md5' },
  { args: ['watch', 'JOB', ...receiver, '--base-url', 'demo'], says: 'never changes' },
  { args: ['watch', 'JOB', ...receiver], says: 'no service is named' },
  { args: ['watch', 'no-such-job.yaml', ...receiver], says: 'no-such-job.yaml' },
  { args: ['watch', 'JOBS', ...receiver], says: 'names 2 jobs' },
  { args: ['webhooks', 'list', 'JOBS'], says: 'names 2 jobs' },
  { args: ['webhooks', 'JOB'], says: 'list' },
  { args: ['webhooks', 'list'], says: 'not clear' },
  { args: ['webhooks', 'list', 'JOB', '--all-of-url', PUBLIC], says: 'not clear' },
  { args: ['webhooks', 'list', '--all-of-url', 'x'], says: '--all-of-url' },
  { args: ['webhooks', 'list', '--all-of-url', PUBLIC], says: 'no service is named' },
])('exits with 2 and a fix for: $says', async ({ args, says }) => {
  const { job } = writeJob()
  copyFileSync(job, join(dirname(job), 'other.json'))
  const words: Record<string, string> = { JOB: job, JOBS: join(dirname(job), '*.json') }
  const { exit, stderr } = await runCommand(args.map((arg) => words[arg] ?? arg))
  expect(exit).toBe(2)
  expect(stderr).toMatch(/^(USAGE|JOB_INVALID): (.+\n)+fix: .+\n$/)
  expect(stderr).toContain(says)
  expect(stderr).not.toContain('pass-word')
})

test.for([
  { env: { WALLETLAKE_WEBHOOK_SECRET: '' }, says: 'WALLETLAKE_WEBHOOK_SECRET: found nothing' },
  { env: { WALLETLAKE_WEBHOOK_SECRET_FILE: 'no-such-file' }, says: 'WALLETLAKE_WEBHOOK_SECRET_FILE' },
])('exits with 2 if the secret cannot be read: $says', async ({ env, says }) => {
  const { exit, stderr } = await runCommand(
    ['watch', writeJob().job, ...receiver, '--base-url', 'http://x'],
    env,
  )
  expect(exit).toBe(2)
  expect(stderr).toContain(says)
})
