import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ExportError } from '../../src/core/model/errors.ts'
import { readSecret } from '../../src/job/read-secret.ts'
import { folderWith, LEAST, refusalOf } from './helpers.ts'

const SECRET = 'S3cr3tS3cr3t'

test.for(['apiKey', 'api_key', 'APIKEY', 'x-service-api-key', 'secret'])(
  'reports the key in %s without showing it, and names the variable',
  async (key) => {
    const { message } = await refusalOf(`${LEAST}service:\n  ${key}: ${SECRET}\n${key}: ['${SECRET}']`)
    const expected = 'found a key (not shown), expected no API key in a job file: set WALLETLAKE_API_KEY'
    expect(message).toContain(`job.yaml:4:3: service.${key}: ${expected}`)
    expect(message).toContain(`job.yaml:5:1: ${key}: ${expected}`)
    expect(message).not.toContain(SECRET)
  },
)

test.for([
  { where: 'a misspelt key', text: `service: { apiKeyHeadr: ${SECRET} }` },
  { where: 'the section itself', text: `service: ${SECRET}` },
  { where: 'the header with its value', text: `service: { apiKeyHeader: 'x-key: ${SECRET}' }` },
  { where: 'the user of a URL', text: `service: { baseUrl: 'https://${SECRET}@example.com' }` },
  { where: 'the password of a URL', text: `service: { baseUrl: 'https://u:${SECRET}@example.com' }` },
  { where: 'the query of a URL', text: `service: { baseUrl: 'https://example.com/?key=${SECRET}' }` },
  {
    where: 'a password with a question mark',
    text: `service: { baseUrl: 'https://u:${SECRET}?@example.com' }`,
  },
  {
    where: 'the endpoint of a store',
    text: `output: 's3://b0x/x'\nstore: { endpoint: 'https://u:${SECRET}@minio.example.com' }`,
  },
  { where: 'the place of an output', text: `output: 's3://u:${SECRET}@b0x/x'` },
  { where: 'a long place', text: `output: 's3://u:${SECRET.repeat(12)}@b0x/x'` },
  { where: 'text that is no YAML', text: `service: { apiKey: '${SECRET}\n x` },
  { where: 'an unknown tag', text: `service: !${SECRET} x` },
  { where: 'an alias', text: `name: *${SECRET}` },
  { where: 'a mapping in a wrong place', text: `concurrency: { key: ${SECRET} }` },
])('never shows a secret in $where', async ({ text }) => {
  const { message } = await refusalOf(`${LEAST}${text}`)
  expect(message).toContain('expected')
  expect(message).not.toContain(SECRET)
})

test('never shows credentials of a URL from command line or environment', async () => {
  const url = `https://me:${SECRET}@example.com`
  const { message } = await refusalOf(LEAST, {
    overrides: { baseUrl: url },
    env: { WALLETLAKE_BASE_URL: url },
  })
  expect(message).toContain('--base-url: found "…@example.com", expected')
  expect(message).toContain('WALLETLAKE_BASE_URL: found "…@example.com", expected')
  expect(message).not.toContain(SECRET)
})

test('reads the key from the environment before its file', async () => {
  const folder = await folderWith({ key: `\ufeff  ${SECRET}\r\n` })
  const WALLETLAKE_API_KEY_FILE = join(folder, 'key')
  expect(await readSecret('apiKey', {})).toBeUndefined()
  expect(await readSecret('apiKey', { WALLETLAKE_API_KEY_FILE })).toBe(SECRET)
  expect(await readSecret('apiKey', { WALLETLAKE_API_KEY: 'Bearer x', WALLETLAKE_API_KEY_FILE })).toBe(
    'Bearer x',
  )
  expect(await readSecret('apiKey', { WALLETLAKE_API_KEY: ` ${SECRET}\n` })).toBe(SECRET)
})

test.for([`${SECRET}==`, `aKey==`, `ABC1==`, `key:${SECRET}`])('accepts the key %s', async (key) => {
  expect(await readSecret('apiKey', { WALLETLAKE_API_KEY: key })).toBe(key)
})

test.for([
  { when: 'it is empty', key: '', says: 'found nothing' },
  { when: 'it is blank', key: ' \n', says: 'found nothing' },
  { when: 'it has two lines', key: `${SECRET}\n${SECRET}`, says: 'found several lines' },
  { when: 'it has two blanks', key: `${SECRET} ${SECRET} ${SECRET}`, says: 'found a blank in the key' },
  { when: 'it has a comment', key: `${SECRET}\t# mine`, says: 'found a blank in the key' },
  { when: 'it is quoted', key: `"${SECRET}"`, says: 'found quotes around the key' },
  { when: 'it has a quote too many', key: `${SECRET}'`, says: 'found quotes around the key' },
  { when: 'it has the name', key: `WALLETLAKE_API_KEY=${SECRET}`, says: 'found the name of a variable' },
  { when: 'it has another name', key: `ETHERSCAN=${SECRET}`, says: 'found the name of a variable' },
  { when: 'it is exported', key: `export MY_TOKEN='${SECRET}'`, says: 'found the name of a variable' },
  { when: 'it is a setting', key: `apiKey: ${SECRET}`, says: 'found the name of a variable or setting' },
  { when: 'it has a letter beyond ASCII', key: `${SECRET}é`, says: 'found characters that an HTTP header' },
  {
    when: 'it has a control character',
    key: `${SECRET}\u0007${SECRET}`,
    says: 'found characters that an HTTP header',
  },
])('rejects a key without showing it when $when', async ({ key, says }) => {
  const folder = await folderWith({ key })
  const ofFile = await refusal({ WALLETLAKE_API_KEY_FILE: join(folder, 'key') })
  for (const error of [await refusal({ WALLETLAKE_API_KEY: key }), ofFile]) {
    expect([error.code, error.failure.exit]).toEqual(['USAGE', 2])
    expect(error.message).toContain(says)
    expect(JSON.stringify([error.message, error.fix, String(error.stack)])).not.toContain(SECRET)
  }
})

test('names a key file that cannot be read', async () => {
  const folder = await folderWith({})
  const missing = await refusal({ WALLETLAKE_API_KEY_FILE: join(folder, 'nowhere') })
  expect(missing.message).toMatch(
    /^WALLETLAKE_API_KEY_FILE: found no such file \(.+nowhere\), expected a file/,
  )
  const directory = await refusal({ WALLETLAKE_API_KEY_FILE: folder })
  expect(directory.message).toContain('found a directory')
})

async function refusal(env: NodeJS.ProcessEnv): Promise<ExportError> {
  return readSecret('apiKey', env).then(
    () => Promise.reject(new Error('the key was accepted')),
    (error: ExportError) => error,
  )
}

test.skipIf(process.platform === 'win32').for([
  { mode: 0o600, warns: false },
  { mode: 0o400, warns: false },
  { mode: 0o640, warns: true },
  { mode: 0o644, warns: true },
])('warns about a key file with mode $mode: $warns', async ({ mode, warns }) => {
  const folder = await folderWith({ key: SECRET })
  const WALLETLAKE_API_KEY_FILE = join(folder, 'key')
  await chmod(WALLETLAKE_API_KEY_FILE, mode)
  const warnings: string[] = []
  expect(await readSecret('apiKey', { WALLETLAKE_API_KEY_FILE }, (warning) => warnings.push(warning))).toBe(
    SECRET,
  )
  const warning = `the key in ${WALLETLAKE_API_KEY_FILE} (WALLETLAKE_API_KEY_FILE) can be read by other users of this machine: change its mode with chmod 600`
  expect(warnings).toEqual(warns ? [warning] : [])
})
