import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { runCommand } from '../helpers/command.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'

const job = () => ['--chain', '43114', '--address', demoWallets[48] ?? '', '--base-url', 'demo']

describe.runIf(existsSync('/dev/full'))('stdout to a full disk', () => {
  const commands: { words: string[] }[] = [
    { words: ['--version'] },
    { words: ['run', ...job(), '--json', '--quiet'] },
    { words: [] },
    { words: ['--help'] },
    { words: ['schema'] },
    { words: ['schema', '--sql', 'duckdb'] },
    { words: ['validate', 'jobs/examples/demo.yaml'] },
    { words: ['status', 'jobs/examples/demo.yaml'] },
    { words: ['plan', 'jobs/examples/demo.yaml'] },
  ]
  testSample(2, commands, '$words exits with 7 and reports it once', async ({ words }) => {
    const output = words[0] === 'run' ? ['--output', join(tempFolder(), 'out')] : []
    const ended = await runCommand([...words, ...output], {}, { shell: 'exec >/dev/full' })
    expect(ended.stderr).toMatch(/^OUTPUT_FAILED: stdout cannot be written: ENOSPC\b.*\nfix: .+\n$/)
    expect(ended.exit).toBe(7)
  })

  test('stderr to a full disk changes nothing', async () => {
    const good = await runCommand(['validate', 'jobs/examples/demo.yaml'], {}, { shell: 'exec 2>/dev/full' })
    expect(good).toMatchObject({ exit: 0, stdout: expect.stringContaining('OK') })
    expect((await runCommand(['rum'], {}, { shell: 'exec 2>/dev/full' })).exit).toBe(2)
  })
})

describe('a terminal', () => {
  const cursorCode = '\u001b['

  async function runOnTerminal(term: string): Promise<string> {
    const { isTTY } = process.stderr
    process.stderr.isTTY = true
    vi.stubEnv('TERM', term)
    onTestFinished(() => {
      process.stderr.isTTY = isTTY
      vi.unstubAllEnvs()
    })
    const words = ['run', ...job(), '--end-block', '421', '--output', join(tempFolder(), 'out')]
    const { exit, stderr } = await runCommand(words)
    expect(exit).toBe(0)
    return stderr
  }

  test('that can move its cursor shows the progress display', async () => {
    expect(await runOnTerminal('xterm-256color')).toContain(cursorCode)
  })

  test('that is dumb receives no cursor codes', async () => {
    expect(await runOnTerminal('dumb')).not.toContain(cursorCode)
  })
})
