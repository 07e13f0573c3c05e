import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createServiceClient, defineJob, rows, run } from '../../src/index.ts'
import { runCommand } from '../helpers/command.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { tempFile, tempFolder } from '../helpers/temp-folder.ts'

const BASE_URL = 'http://data-api.example.com'
const fields = { chain: '43114', addresses: ['0x1111111111111111111111111111111111111111'] }
const key = { WALLETLAKE_API_KEY: 'k3y-of-this-test' }

function jobFile(): string {
  return tempFile(
    'job.json',
    JSON.stringify({ ...fields, output: join(tempFolder(), 'out'), service: { baseUrl: BASE_URL } }),
  )
}

async function exported(): Promise<string> {
  const output = join(tempFolder(), 'out')
  await exportDemo(output, { addresses: fields.addresses })
  return output
}

const COMMANDS: Record<string, () => Promise<string[]>> = {
  run: async () => ['run', jobFile()],
  watch: async () => [
    'watch',
    jobFile(),
    '--receiver-url',
    'https://me.example.com/hook',
    '--listen',
    '127.0.0.1:0',
  ],
  'webhooks list': async () => ['webhooks', 'list', jobFile()],
  audit: async () => ['audit', await exported(), '--base-url', BASE_URL],
  reindex: async () => ['reindex', await exported(), '--base-url', BASE_URL],
}

test.for(Object.keys(COMMANDS))('`%s` sends no key unencrypted to another machine', async (name) => {
  const args = (await COMMANDS[name]?.()) ?? []
  const { exit, stderr } = await runCommand(args, key)
  expect([exit, stderr]).toEqual([
    2,
    expect.stringContaining('USAGE: the key would be sent unencrypted to data-api.example.com'),
  ])
  expect(stderr).toContain('add --allow-plain-http or set WALLETLAKE_ALLOW_PLAIN_HTTP=true')
  expect(stderr).not.toContain(key.WALLETLAKE_API_KEY)
})

test('a library call sends no key unencrypted to another machine', async () => {
  const job = await defineJob({ ...fields, output: tempFolder(), service: { baseUrl: BASE_URL } })
  const refusal = { code: 'USAGE', message: expect.stringContaining('unencrypted') }
  await expect(run([job], { apiKey: 'k3y' })).rejects.toMatchObject(refusal)
  await expect(rows(job, 'ledger', { apiKey: 'k3y' }).next()).rejects.toMatchObject(refusal)
  expect(() => createServiceClient({ baseUrl: BASE_URL, apiKey: 'k3y' })).toThrow(
    expect.objectContaining(refusal),
  )
})

test.for([
  { args: ['--allow-plain-http'], env: {} },
  { args: [], env: { WALLETLAKE_ALLOW_PLAIN_HTTP: 'true' } },
])('a key is sent unencrypted if $args and $env allow it', async ({ args, env }) => {
  const { exit, stderr } = await runCommand(
    ['run', jobFile(), '--base-url', 'http://nowhere.invalid', '--max-requests', '1', ...args],
    { ...key, ...env },
  )
  expect(stderr).not.toContain('unencrypted')
  expect([5, 9]).toContain(exit)
})

test('the variable that allows plain HTTP must be true or false', async () => {
  const { exit, stderr } = await runCommand(['run', jobFile()], {
    ...key,
    WALLETLAKE_ALLOW_PLAIN_HTTP: 'maybe',
  })
  expect([exit, stderr]).toEqual([
    2,
    expect.stringContaining('WALLETLAKE_ALLOW_PLAIN_HTTP is neither true nor false'),
  ])
})
