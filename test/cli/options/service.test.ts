import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { readAccessOfOutput } from '../../../src/cli/options/service.ts'
import { run } from '../../../src/export/run.ts'
import { runCommand } from '../../helpers/command.ts'
import { testJob } from '../../helpers/jobs.ts'
import { demoWallets } from '../../helpers/node-data.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

const KEY = { WALLETLAKE_API_KEY: 'a-key' }
const BASE_URL = 'http://127.0.0.1:9/api'

/** Makes an output look as if its last run had read from an explorer. */
function readFromExplorer(output: string): string {
  const service = { baseUrl: BASE_URL, api: 'etherscan', apiKeyHeader: 'x-service-api-key' }
  mkdirSync(join(output, 'runs'), { recursive: true })
  writeFileSync(join(output, 'runs', '29991231T000000Z-aaaaaa.json'), JSON.stringify({ service }))
  return output
}

async function accessOfExplorer(isDataApiOnly: boolean) {
  const output = readFromExplorer(tempFolder())
  vi.stubEnv('WALLETLAKE_API_KEY', KEY.WALLETLAKE_API_KEY)
  try {
    const located = { output, name: output, store: undefined, job: undefined }
    return await readAccessOfOutput(located, { args: {}, isDataApiOnly }, () => undefined)
  } finally {
    vi.unstubAllEnvs()
  }
}

test('a command that sends nothing to explorers accepts one that only the export names', async () => {
  expect(await accessOfExplorer(true)).toMatchObject({ api: 'etherscan', baseUrl: BASE_URL })
})

test('a command that sends requests to explorers sends no key to one that only the export names', async () => {
  await expect(accessOfExplorer(false)).rejects.toThrow(/^only the export names http:\/\/127\.0\.0\.1:9\/api/)
})

test('with a key, audit says of the export of an explorer that it needs another API, and prices goes on', async () => {
  const output = tempFolder()
  await run([testJob({ addresses: demoWallets.slice(0, 1), endBlock: 60, output })])
  readFromExplorer(output)
  const audited = await runCommand(['audit', output], KEY)
  expect(audited.exit).toBe(2)
  expect(audited.stderr).toContain('USAGE: this command needs a service with the API data-api')
  const priced = await runCommand(['prices', output], KEY)
  expect(priced.exit).toBe(0)
  expect(priced.stderr).toContain('the API etherscan states no prices')
})
