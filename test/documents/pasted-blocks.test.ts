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

/** The command lines of the program in the shell blocks of a section, without the monitoring of another host. */
const commandsIn = (page: string, heading: string) =>
  blocksOf(sectionOf(pageAt(page), heading))
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.replace(/ --ping https:\S+/, '').split('\n'))
    .filter((line) => line.startsWith('walletlake '))

describe.for([
  { page: 'jobs/README.md', heading: '## Run a job', least: 5 },
  { page: 'jobs/README.md', heading: '### 500 wallets', least: 3 },
  { page: 'jobs/schedule/README.md', heading: '## Nightly into PostgreSQL', least: 1 },
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
