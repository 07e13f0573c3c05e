import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { runCommand } from '../helpers/command.ts'

test('prints the help without arguments', async () => {
  const { exit, stdout, stderr } = await runCommand([])
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' })
  expect(stdout).toContain('Commands:\n  demo ')
  expect(stdout).toBe((await runCommand(['--help'])).stdout)
})

test.for([
  { args: ['run', '--bogus', 'jobs/examples/demo.yaml'], says: "unknown option '--bogus'" },
  { args: ['--bogus', 'run', 'jobs/examples/demo.yaml'], says: "unknown option '--bogus'" },
  { args: ['run', 'jobs/examples/demo.yaml', '--ouput', 'x'], says: "'--ouput' (Did you mean --output?)" },
  { args: ['statsu', 'jobs/examples/demo.yaml'], says: "unknown command 'statsu' (Did you mean status?)" },
  { args: ['help', 'rn'], says: "unknown command 'rn' (Did you mean run?)" },
  { args: ['help', 'foo'], says: "unknown command 'foo'" },
  { args: ['export', 'x.yaml'], says: "unknown command 'export' (Did you mean run?)" },
  { args: ['run', 'x.yaml', '--out', 'y'], says: "unknown option '--out' (Did you mean --output?)" },
  { args: ['run', 'x.yaml', '--from', '4'], says: "unknown option '--from' (Did you mean --start-block?)" },
  { args: ['report', 'x', '--output', 'y'], says: "unknown option '--output' (Did you mean --out?)" },
  {
    args: ['balances', 'x', '--out', 'y'],
    says: "unknown option '--out'\nfix: This command prints its result. For a file, use --format csv > FILE.",
  },
  { args: ['--bogus=a'], says: "unknown option '--bogus'\n" },
  { args: ['--verion'], says: "unknown option '--verion' (Did you mean --version?)" },
  { args: ['constructor'], says: "unknown command 'constructor'" },
  { args: ['https://me:password@host'], says: "unknown command 'https://…@host'" },
  { args: ['worker'], says: "required option '--queue <url>' not specified" },
  { args: ['query'], says: "missing required argument 'output'" },
  { args: ['run', 'jobs/examples/demo.yaml', '--quiet=no'], says: "option '--quiet' takes no value" },
  { args: ['report', 'x', '--max-rows', 'many'], says: "'--max-rows <count>' argument 'many' is invalid" },
  { args: ['query', 'x', 'y', '--max-rows', '0'], says: 'expected a whole number of at least 1' },
  { args: ['serve', 'here'], says: "too many arguments for 'serve'" },
  { args: ['run', 'jobs/examples/demo.yaml', '--output'], says: "'--output <location>' argument missing" },
  {
    args: ['run', '--output', '--format', 'csv', 'jobs/examples/demo.yaml'],
    says: "'--output <location>' has no value before --format",
  },
  {
    args: ['convert', 'x', '--to', 'koinly', '--prices', 'a.csv', '--prices', 'b.csv'],
    says: "'--prices <file>' is given twice, with different values",
  },
  {
    args: ['report', 'x', '--serve', '--out', 'a.html'],
    says: "'--serve' cannot be used with option '--out <file>'",
  },
  {
    args: ['convert', 'x', '--check', 'a.csv', '--to', 'koinly'],
    says: '--check reads a.csv, so x is not used',
  },
  {
    args: ['load', '.', '--to', 'sqlite:a.db', '--files-at', 'gs://b'],
    says: '--files-at is for bigquery and',
  },
  { args: ['load', 'x', '--from-manifest', 'y'], says: 'both an output and a manifest were named' },
  { args: ['run', '--ping', 'http://secret', '--ping', 'http://other', 'x.yaml'], says: 'is given twice' },
  { args: ['serve', '--quota', ''], says: '--quota: found nothing, expected a number' },
  { args: ['serve', '--quota', 'many'], says: '--quota: found many, expected a number' },
  { args: ['serve', '--replay-from', '4'], says: '--replay-from needs --replay' },
  { args: ['load', 'x', '--commit', 'never'], says: 'Use one of load, file' },
  { args: ['convert', 'x', '--to', 'konly'], says: '--to: unknown program konly (Did you mean koinly?)' },
  { args: ['convert', 'x', '--to', 'Koinly'], says: 'Did you mean koinly?' },
  { args: ['convert', 'x', '--to', 'koinly', '--swaps', 'pairs'], says: 'Did you mean pair?' },
  { args: ['query', 'x', 'y', '--format', 'jsn'], says: 'Did you mean json?' },
  {
    args: ['webhooks', 'remov', 'x'],
    says: 'webhooks: unknown action remov (Did you mean remove?)',
  },
])('explains what is wrong with $args', async ({ args, says }) => {
  const { exit, stderr } = await runCommand(args)
  expect(stderr).toMatch(/^USAGE: .+\nfix: .+\n$/)
  expect(stderr).toContain(says)
  expect(exit).toBe(2)
})

test('accepts a repeated option if its values are equal, or if it is repeatable', async () => {
  const words = ['validate', 'jobs/examples/demo.yaml', '--format', 'csv', '--format', 'csv']
  const { exit, stderr } = await runCommand([...words, '--tables', 'ledger', '--tables', 'transactions'])
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' })
})

test('help prints the help of a command', async () => {
  const { exit, stdout, stderr } = await runCommand(['help', 'run'])
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' })
  expect(stdout).toBe((await runCommand(['run', '--help'])).stdout)
})

test.for([
  { args: ['help'], same: ['--help'] },
  { args: ['-h'], same: ['--help'] },
  { args: ['help', '--help'], same: ['--help'] },
  { args: ['help', 'run', 'jobs/examples/demo.yaml'], same: ['run', '--help'] },
  { args: ['run', 'jobs/examples/demo.yaml', '-h'], same: ['run', '--help'] },
  { args: ['run', '--version'], same: ['--version'] },
])('$args prints what $same prints', async ({ args, same }) => {
  const { exit, stdout, stderr } = await runCommand(args)
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' })
  expect(stdout).toBe((await runCommand(same)).stdout)
})

test('--version prints only the version', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  expect(await runCommand(['--version'])).toEqual({ exit: 0, stdout: `${version}\n`, stderr: '' })
})

test('help of an unknown command prints only an error', async () => {
  expect((await runCommand(['help', 'rn'])).stdout).toBe('')
})

test('suggests nothing for a command that resembles none', async () => {
  const { stderr } = await runCommand(['foo'])
  expect(stderr).toMatch(/^USAGE: unknown command 'foo'\n/)
})

test('the fix refers to the help of the given command', async () => {
  const { stderr } = await runCommand(['load', '--nonsense'])
  expect(stderr).toMatch(/\nfix: Run .+ load --help to see how it is used\.\n$/)
})

describe('a key on the command line', () => {
  test.for(['--api-key', '--key', '--apikey', '--x-service-api-key', '--token'])(
    '%s is rejected with the variable to use instead, and its value is not shown',
    async (option) => {
      for (const words of [[`${option}=very=secret'`], [option, 'very-secret']]) {
        const { exit, stderr } = await runCommand(['run', 'jobs/examples/demo.yaml', ...words])
        expect(stderr).toContain(`unknown option '${option}'`)
        expect(stderr).toContain('fix: Set WALLETLAKE_API_KEY, or WALLETLAKE_API_KEY_FILE')
        expect(stderr).not.toContain('secret')
        expect(exit).toBe(2)
      }
    },
  )
})

test('the help of validate has no options about output', async () => {
  const { stdout } = await runCommand(['validate', '--help'])
  expect(stdout.match(/--[a-z-]+/g)).toEqual(['--help'])
})
