import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readLastService } from '../../../src/export/history/past-runs.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

const report = (host: string, fields: object) => ({
  service: { baseUrl: `https://${host}`, apiKeyHeader: 'x-key', api: 'etherscan' },
  error: null,
  pages: 3,
  ...fields,
})
const REFUSED = { error: { code: 'KEY_REFUSED' }, pages: 0 }

test.for([
  { when: 'it read something', reports: [report('old', {}), report('new', {})], host: 'new' },
  {
    when: 'there was nothing to read',
    reports: [report('old', {}), report('new', { pages: 0 })],
    host: 'new',
  },
  {
    when: 'it was interrupted',
    reports: [report('old', {}), report('new', { error: { code: 'STOPPED' } })],
    host: 'new',
  },
])('is the service of the newest run if $when', async ({ reports, host }) => {
  expect(await lastHost(reports)).toBe(host)
})

test('is not the service of a run that failed before it had read anything', async () => {
  expect(await lastHost([report('old', {}), report('new', REFUSED)])).toBe('old')
})

test('is the service of a failed run if there is no other', async () => {
  expect(await lastHost([report('old', REFUSED), report('new', REFUSED)])).toBe('new')
  expect(await lastHost([{ error: null }])).toBeUndefined()
})

async function lastHost(reports: readonly object[]): Promise<string | undefined> {
  const output = tempFolder()
  mkdirSync(join(output, 'runs'))
  for (const [at, content] of reports.entries())
    writeFileSync(join(output, 'runs', `2025010${at + 1}T000000Z-abc.json`), JSON.stringify(content))
  const last = await readLastService(output)
  return last === undefined ? undefined : new URL(last.baseUrl).hostname
}
