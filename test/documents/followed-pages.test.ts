// @module-tag long

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { runCommand } from '../helpers/command.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { blocksOf, pageAt, ROOT, sectionOf } from './pages.ts'

/** The main wallet of the demo. */
const WALLET = '0x1b07dfcbcfa9a02ed77bf4f028dd45d9dac6ab68'

/** The commands of a block, in order, as words; what a reader fills in is replaced. */
function commandsOf(text: string, filledIn: readonly (readonly [string, string])[]): string[][] {
  return text
    .split('\n')
    .map((line) => filledIn.reduce((filled, [from, to]) => filled.replaceAll(from, to), line))
    .flatMap((line) => /^walletlake (.*?)(\s+#.*)?$/.exec(line)?.[1] ?? [])
    .map((command) => command.split(/\s+/))
}

const EXPORTS = blocksOf(sectionOf(pageAt('README.md'), '## Export your wallet'))
  .map(({ text }) => text)
  .filter((text) => text.includes('$wallet'))

test.for([
  { api: 'blockscout', host: 'https://eth.blockscout.com', names: ['run', 'reconcile', 'report'] },
  { api: 'etherscan', host: 'https://api.etherscan.io', names: ['plan', 'run'] },
  { api: 'data-api', host: 'https://data-api.avax.network', names: ['run'] },
] as const)('README.md exports a wallet from $host, as it says', async ({ api, host, names }) => {
  const cwd = tempFolder()
  const { url } = await startLoopback(createDataService({ api }))
  const block = EXPORTS.find((text) => text.includes(host)) ?? ''
  const commands = commandsOf(block, [
    [host, api === 'blockscout' ? `${url}/42161 --api blockscout` : url],
    ['--chain 1 ', '--chain 42161 '],
    ['output/1-', 'output/42161-'],
    ['$wallet', WALLET],
    [' --open', ''],
  ])
  expect(commands.map(([name]) => name)).toEqual(names)
  for (const words of commands) {
    const { exit, stderr } = await runCommand(words, {}, { cwd })
    expect({ words, exit, stderr: exit === 0 ? '' : stderr }).toEqual({ words, exit: 0, stderr: '' })
  }
})

test('the script in src/README.md runs as it is, as JavaScript', () => {
  const cwd = tempFolder()
  const [script] = blocksOf(sectionOf(pageAt('src/README.md'), '## Use it from TypeScript'))
  const library = pathToFileURL(join(ROOT, 'dist/index.js')).href
  writeFileSync(join(cwd, 'export.mjs'), (script?.text ?? '').replace("'walletlake'", `'${library}'`))
  const { status, stdout, stderr } = spawnSync(process.execPath, ['export.mjs'], { cwd, encoding: 'utf8' })
  expect({ status, stderr: stderr.replaceAll(/^(waiting|reading|writing|done) \d+ %\n/gm, '') }).toEqual({
    status: 0,
    stderr: '',
  })
  expect(stderr).toContain('done 100 %\n')
  expect(stdout).toContain('complete\nETH ')
  expect(stdout).toMatch(/^2024-01-02T\S+ transfer \d+n$/m)
})
