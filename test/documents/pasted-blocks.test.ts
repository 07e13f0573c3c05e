// @module-tag long

import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { blocksOf, pageAt, ROOT, sectionOf } from './pages.ts'

/** A folder like a reader's: `walletlake` in PATH, a job of their own, and the export of the demo. */
const folder = suiteFolder()
const bin = join(folder, 'bin')
const env = {
  ...process.env,
  PATH: `${bin}:${process.env.PATH}`,
  WALLETLAKE_LOAD_TO: 'duckdb:output/lake.db',
}

beforeAll(() => {
  mkdirSync(bin)
  const program = join(bin, 'walletlake')
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'dist', 'bin.js')}" "$@"\n`)
  chmodSync(program, 0o755)
  mkdirSync(join(folder, 'jobs'))
  const demo = readFileSync(join(ROOT, 'jobs', 'examples', 'demo.yaml'), 'utf8')
  writeFileSync(join(folder, 'jobs', 'mine.yaml'), demo.replace(/^name: .*$/m, ''))
  expect(paste('walletlake demo').status).toBe(0)
})

const paste = (text: string) => spawnSync('sh', ['-c', text], { cwd: folder, env, encoding: 'utf8' })

/** The command lines of the shell blocks of a section; a line that ends in a backslash goes on. */
const commandsIn = (page: string, heading: string) =>
  blocksOf(sectionOf(pageAt(page), heading))
    .filter(({ language, text }) => language === 'sh' && text.startsWith('walletlake'))
    .flatMap(({ text }) => text.replaceAll('\\\n', '').trim().split('\n'))

describe.for([
  { page: 'jobs/README.md', heading: '## Run a job', least: 5 },
  { page: 'jobs/README.md', heading: '### 500 wallets', least: 3 },
  { page: 'output/README.md', heading: '## Ask questions in SQL', least: 2 },
  { page: 'output/README.md', heading: '## Commands for an export', least: 6 },
])('$page, $heading', ({ page, heading, least }) => {
  const commands = commandsIn(page, heading)

  test(`has at least ${least} commands`, () => {
    expect(commands.length).toBeGreaterThanOrEqual(least)
  })

  test.for(commands)('%s', (command) => {
    const { status, stderr } = paste(command)
    expect([status, status === 0 ? '' : stderr]).toEqual([0, ''])
  })
})
