import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { type JobInputs, promptForJob } from '../../../src/cli/prompt-job.ts'
import { runCommand } from '../../helpers/command.ts'
import { tempFile, tempFolder } from '../../helpers/temp-folder.ts'

const [A, B] = ['0x58A57ed9d8d624cBD12e2C467D34787555bB1b25', '0x0d3eb21b6b21833a4939cfff4810e9ae0758e12c']
const GIVEN = ['--chain', '43114', '--address', A, '--base-url', 'https://data.example.com']

describe('walletlake init', () => {
  test('writes a valid job and creates its folder', async () => {
    const file = join(tempFolder(), 'jobs', 'mine.yaml')
    const written = await runCommand(['init', file, ...GIVEN, '--address', `${B}=savings, of mine`])
    expect(written).toMatchObject({ exit: 0, stderr: '' })
    expect(written.stdout).toContain(`Created ${file}: chain 43114, 2 wallets.\nNext:\n`)
    const { stdout } = await runCommand(['validate', file])
    expect(stdout).toBe(`${file}: OK (chain 43114, 2 wallets)\n`)
    expect(readFileSync(file, 'utf8')).toContain(
      `- "${A}"\n  - { address: "${B}", label: "savings, of mine" }`,
    )
  })

  test('does not overwrite an existing file without --force', async () => {
    const file = tempFile('mine.yaml', 'mine\n')
    const { exit, stderr } = await runCommand(['init', file, ...GIVEN])
    expect([exit, stderr]).toEqual([2, expect.stringContaining(`USAGE: ${file} already exists\nfix: `)])
    expect(readFileSync(file, 'utf8')).toBe('mine\n')
    expect((await runCommand(['init', file, ...GIVEN, '--force'])).exit).toBe(0)
    expect((await runCommand(['validate', file])).exit).toBe(0)
  })

  test('names the job if the file name is not a valid job name', async () => {
    const file = join(tempFolder(), 'My Wallets.yaml')
    expect((await runCommand(['init', file, ...GIVEN])).exit).toBe(0)
    expect((await runCommand(['validate', file])).exit).toBe(0)
    expect(readFileSync(file, 'utf8')).toContain('\nname: my-wallets\n')
  })

  test('takes the service from the environment', async () => {
    const file = join(tempFolder(), 'mine.yaml')
    const args = ['init', file, '--chain', '1', '--address', A]
    expect((await runCommand(args, { WALLETLAKE_BASE_URL: 'demo' })).exit).toBe(0)
    expect(readFileSync(file, 'utf8')).toContain('baseUrl: "demo"')
  })

  test('writes the API of the service, from the option or the environment', async () => {
    const [byOption, byVariable] = [join(tempFolder(), 'mine.yaml'), join(tempFolder(), 'mine.yaml')]
    expect((await runCommand(['init', byOption, ...GIVEN, '--api', 'blockscout'])).exit).toBe(0)
    expect((await runCommand(['init', byVariable, ...GIVEN], { WALLETLAKE_API: 'etherscan' })).exit).toBe(0)
    expect(readFileSync(byOption, 'utf8')).toContain('\n  api: blockscout\n')
    expect(readFileSync(byVariable, 'utf8')).toContain('\n  api: etherscan\n')
  })

  test.for([
    { args: [], says: 'there is no --chain, no --address, no --base-url' },
    { args: ['--chain', '1', '--base-url', 'demo'], says: 'there is no --address' },
    { args: [...GIVEN, '--address', '0x12'], says: '--address: found "0x12", expected 0x and 40' },
    { args: [...GIVEN, '--address', A], says: 'expected each address once' },
    { args: ['--chain', 'a b', ...GIVEN.slice(2)], says: '--chain: found "a b", expected a chain id' },
    { args: [...GIVEN, '--format', 'xlsx'], says: '--format: found "xlsx"' },
    { args: [...GIVEN, '--api', 'rpc'], says: '--api: found "rpc"' },
    { args: [...GIVEN, '--start-block', 'soon'], says: '--start-block: found "soon"' },
    {
      args: ['--chain', '1', '--address', A, '--base-url', 'https://me:s3cret@x'],
      says: '--base-url: found "…@x"',
    },
  ])('writes nothing and exits with 2: $says', async ({ args, says }) => {
    const file = join(tempFolder(), 'mine.yaml')
    const { exit, stderr } = await runCommand(['init', file, ...args])
    expect(stderr).toMatch(/^(USAGE|JOB_INVALID): .+\n(.+\n)*fix: .+\n$/)
    expect(stderr.replaceAll('\n  ', ' ')).toContain(says)
    expect(exit).toBe(2)
    expect(() => readFileSync(file)).toThrow('ENOENT')
  })

  test('rejects a file name that other commands would not accept as a job', async () => {
    const { stderr } = await runCommand(['init', 'mine', ...GIVEN])
    expect(stderr).toBe('USAGE: mine: a job file ends in .yaml\nfix: Name mine.yaml.\n')
  })
})

describe('the questions of init', () => {
  async function answer(lines: readonly string[], given: JobInputs = {}) {
    const [input, output] = [new PassThrough(), new PassThrough()]
    input.end(lines.map((line) => `${line}\n`).join(''))
    const received = promptForJob(given, { input, output })
    return { answers: await received, shown: String(output.read()) }
  }

  test('ask for chain, wallets, service and format, with Enter for the default', async () => {
    const { answers, shown } = await answer(['43114', `${A} savings of mine`, B, '', 'demo', ''])
    const address = [`${A}=savings of mine`, B]
    expect(answers).toEqual({ chain: '43114', address, baseUrl: 'demo', format: 'csv' })
    expect(shown.match(/[^:]+: /g)).toHaveLength(6)
  })

  test('ask for the API if neither the host nor an option tells it', async () => {
    const unknown = { chain: '1', address: [A], baseUrl: 'https://data.example.com', format: 'csv' }
    const { answers, shown } = await answer(['etherscan'], unknown)
    expect(answers).toEqual({ ...unknown, api: 'etherscan' })
    expect(shown).toBe('API of the service, data-api, etherscan, blockscout [data-api]: ')
    const known = { ...unknown, baseUrl: 'https://api.etherscan.io' }
    expect((await answer([], known)).answers).toEqual(known)
  })

  test('do not ask for values that were given', async () => {
    const given = { chain: '1', address: [A], baseUrl: 'demo', startBlock: '7' }
    const { answers, shown } = await answer(['parquet'], given)
    expect(answers).toEqual({ ...given, format: 'parquet' })
    expect(shown).toBe('Format, csv or parquet [csv]: ')
  })

  test('repeat a question after an invalid answer and state the reason', async () => {
    const lines = ['', 'a b', '1', '0x12', A, A.toLowerCase(), '', 'ftp://x', 'demo', 'xls', 'csv']
    const { answers, shown } = await answer(lines)
    expect(answers).toEqual({ chain: '1', address: [A], baseUrl: 'demo', format: 'csv' })
    expect(shown).toContain('A value is required.\n')
    expect(shown.replaceAll('\n  ', ' ')).toContain('found "a b", expected a chain id')
    expect(shown).toContain('expected each address once')
    expect(shown).not.toContain('--')
  })

  test('end without a result if the input ends', async () => {
    await expect(answer(['1', A])).rejects.toMatchObject({ code: 'INTERRUPTED' })
  })
})
