import fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { type Command, defineCommand, hideOptions, option } from '../../src/cli/command.ts'
import { COMMANDS } from '../../src/cli/commands/index.ts'
import { parseArguments } from '../../src/cli/parser.ts'
import { usageError } from '../../src/cli/usage-error.ts'

function parseWait(text: string, name: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw usageError(`--${name}: found ${text}`)
}

const command = defineCommand({
  name: 'sample',
  summary: 'A command for these tests',
  arguments: [
    { name: 'output', required: true, description: 'An argument' },
    { name: 'kind', choices: ['hot', 'cold'], default: 'hot', description: 'An argument with choices' },
    { name: 'rest', repeatable: true, description: 'Further arguments' },
  ],
  options: [
    option('title <text>', 'A value'),
    option('start-block <n>', 'Another value'),
    option('format <format>', 'A choice', { choices: ['table', 'csv'], default: 'table' }),
    option('address <wallet>', 'Values', { repeatable: true }),
    option('dry-run', 'A flag'),
    option('escape-formulas', 'A flag with two forms', { negatable: true }),
    option('out <file>', 'A value that excludes others', { conflicts: ['dry-run', 'title'] }),
    option('wait <seconds>', 'A value that is parsed', { default: '3', parse: parseWait }),
    ...hideOptions([option('secret-mode', 'Not in the help')]),
  ],
  run: async (args) => {
    expectTypeOf(args.output).toEqualTypeOf<string>()
    expectTypeOf(args.kind).toEqualTypeOf<'hot' | 'cold'>()
    expectTypeOf(args.rest).toEqualTypeOf<string[]>()
    expectTypeOf(args.startBlock).toEqualTypeOf<string | undefined>()
    expectTypeOf(args.format).toEqualTypeOf<'table' | 'csv'>()
    expectTypeOf(args.address).toEqualTypeOf<string[] | undefined>()
    expectTypeOf(args.wait).toEqualTypeOf<number>()
    expectTypeOf(args.dryRun).toEqualTypeOf<boolean | undefined>()
    expectTypeOf(args.secretMode).toEqualTypeOf<boolean | undefined>()
    // @ts-expect-error: no option has this name.
    return args.dryrun
  },
})

/** The result of parsing if nothing else is given. */
const DEFAULTS = { output: 'x', kind: 'hot', rest: [], format: 'table', wait: 3 }

const parse = (...words: string[]) => parseArguments(command, words)

describe('an option', () => {
  test.for([
    { words: ['--title', 'a'], values: { title: 'a' } },
    { words: ['--title=a'], values: { title: 'a' } },
    { words: ['--title=a=b'], values: { title: 'a=b' } },
    { words: ['--title='], values: { title: '' } },
    { words: ['--title', ''], values: { title: '' } },
    { words: ['--title', '-5'], values: { title: '-5' } },
    { words: ['--title', '-x'], values: { title: '-x' } },
    { words: ['--title', '--unknown'], values: { title: '--unknown' } },
    { words: ['--title', '--'], values: { title: '--' } },
    { words: ['--title', "'quoted'"], values: { title: "'quoted'" } },
    { words: ['--title="quoted"'], values: { title: '"quoted"' } },
    { words: ['--title', '0x00Ff'], values: { title: '0x00Ff' } },
    { words: ['--wait', '7'], values: { wait: 7 } },
    { words: ['--start-block', '007'], values: { startBlock: '007' } },
    { words: ['--start-block=1e3'], values: { startBlock: '1e3' } },
    { words: ['--title', 'true'], values: { title: 'true' } },
    { words: ['--format', 'csv', '--format', 'csv'], values: { format: 'csv' } },
    { words: ['--address', '0x1'], values: { address: ['0x1'] } },
    {
      words: ['--address', '0x1', '--address=0x2', '--address', '0x1'],
      values: { address: ['0x1', '0x2', '0x1'] },
    },
    { words: ['--dry-run'], values: { dryRun: true } },
    { words: ['--dry-run', '--dry-run'], values: { dryRun: true } },
    { words: ['--escape-formulas'], values: { escapeFormulas: true } },
    { words: ['--no-escape-formulas'], values: { escapeFormulas: false } },
    { words: ['--escape-formulas', '--no-escape-formulas'], values: { escapeFormulas: false } },
    { words: ['--no-escape-formulas', '--escape-formulas'], values: { escapeFormulas: true } },
    { words: ['--secret-mode'], values: { secretMode: true } },
  ])('is parsed: $words', async ({ words, values }) => {
    expect(await parse('x', ...words)).toStrictEqual({ ...DEFAULTS, ...values })
    expect(await parse(...words, 'x')).toStrictEqual({ ...DEFAULTS, ...values })
  })

  test('keeps its value unchanged in both forms', async () => {
    const forms = [
      '--help',
      '-h',
      '--version',
      ...['title', 'start-block', 'format', 'address'].map((name) => `--${name}`),
    ]
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), async (value) => {
        fc.pre(!forms.includes(value))
        expect(await parse('x', '--title', value)).toStrictEqual({ ...DEFAULTS, title: value })
        expect(await parse(`--title=${value}`, 'x')).toStrictEqual({ ...DEFAULTS, title: value })
      }),
    )
  })

  test.for([
    { words: ['--title'], says: "option '--title <text>' argument missing" },
    { words: ['--title', '--format', 'csv'], says: "option '--title <text>' has no value before --format" },
    {
      words: ['--title', '--no-escape-formulas'],
      says: "option '--title <text>' has no value before --no-escape",
    },
    { words: ['--address', '-h'], says: "option '--address <wallet>' has no value before -h" },
    {
      words: ['--title', 'a', '--title', 'b'],
      says: "option '--title <text>' is given twice, with different",
    },
    {
      words: ['--format', 'csvv'],
      says: '--format: unknown format csvv (Did you mean csv?)',
    },
    { words: ['--wait', 'soon'], says: '--wait: found soon' },
    { words: ['--format', 'CSV'], says: 'Did you mean csv?' },
    { words: ['--format', 'parquet'], says: '--format: unknown format parquet' },
    { words: ['--dry-run=false'], says: "option '--dry-run' takes no value" },
    { words: ['--no-dry-run'], says: "unknown option '--no-dry-run'" },
    { words: ['--no-title'], says: "unknown option '--no-title'" },
    { words: ['--dryrun'], says: "unknown option '--dryrun' (Did you mean --dry-run?)" },
    { words: ['--start-blok', '7'], says: "unknown option '--start-blok' (Did you mean --start-block?)" },
    { words: ['--startBlock', '7'], says: "unknown option '--startBlock' (Did you mean --start-block?)" },
    { words: ['--title-of', 'a'], says: "unknown option '--title-of'" },
    { words: ['--title.x', 'a'], says: "unknown option '--title.x'" },
    { words: ['--title-'], says: "unknown option '--title-' (Did you mean --title?)" },
    { words: ['--constructor'], says: "unknown option '--constructor'" },
    { words: ['--__proto__', 'a'], says: "unknown option '--__proto__'" },
    { words: ['--_=a'], says: "unknown option '--_'" },
    { words: ['--get-yargs-completions'], says: "unknown option '--get-yargs-completions'" },
    { words: ['---'], says: "unknown option '---'" },
    { words: ['-t', 'a'], says: "unknown option '-t'" },
    { words: ['-ksecret'], says: "unknown option '-k'" },
    { words: ['--somewhere=secret'], says: "unknown option '--somewhere'" },
    {
      words: ['--out', 'f', '--title', 'a'],
      says: "'--out <file>' cannot be used with option '--title <text>'",
    },
    { words: ['--dry-run', '--out', 'f'], says: "'--out <file>' cannot be used with option '--dry-run'" },
  ])('is rejected: $words', async ({ words, says }) => {
    for (const all of [
      ['x', ...words],
      ['x', 'hot', ...words],
    ]) {
      const refused = await parse(...all).catch((error: unknown) => error)
      expect(refused).toMatchObject({ code: 'USAGE', message: expect.stringContaining(says) })
      expect(String(refused)).not.toContain('secret')
    }
  })

  test('that is required is reported if it is missing', async () => {
    const withRequired: Command = {
      ...command,
      options: [{ name: 'queue', value: '<url>', required: true, description: '' }],
    }
    await expect(parseArguments(withRequired, ['x'])).rejects.toMatchObject({
      message: "required option '--queue <url>' not specified",
    })
    expect(await parseArguments(withRequired, ['x', '--queue', 'q'])).toMatchObject({ queue: 'q' })
  })
})

describe('arguments', () => {
  test.for([
    { words: ['a'], values: { output: 'a' } },
    { words: ['a', 'cold', 'b', 'c'], values: { output: 'a', kind: 'cold', rest: ['b', 'c'] } },
    {
      words: ['a', '--dry-run', 'cold', '--title', 't', 'b'],
      values: { output: 'a', kind: 'cold', rest: ['b'], title: 't', dryRun: true },
    },
    { words: ['--dry-run', 'true', 'cold'], values: { output: 'true', kind: 'cold', dryRun: true } },
    { words: ['-'], values: { output: '-' } },
    { words: ['-5'], values: { output: '-5' } },
    { words: ['007', 'hot', '1e3', '0x10'], values: { output: '007', rest: ['1e3', '0x10'] } },
    { words: ['select a - b -- c'], values: { output: 'select a - b -- c' } },
    {
      words: ['--', '--title', 'hot', '-- a comment', '--'],
      values: { output: '--title', rest: ['-- a comment', '--'] },
    },
    {
      words: ['a', '--title', 't', '--', 'cold', '--help'],
      values: { output: 'a', kind: 'cold', title: 't', rest: ['--help'] },
    },
    { words: [''], values: { output: '' } },
  ])('are assigned by position in $words', async ({ words, values }) => {
    expect(await parse(...words)).toStrictEqual({ ...DEFAULTS, ...values })
  })

  test('after -- are kept unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string()), async (rest) => {
        expect(await parse('--', 'x', 'hot', ...rest)).toStrictEqual({ ...DEFAULTS, rest })
      }),
    )
  })

  test.for([
    { args: [], words: ['a'], says: "too many arguments for 'sample'. Expected 0 arguments but got 1." },
    { args: command.arguments.slice(0, 1), words: ['a', 'b'], says: 'Expected 1 argument but got 2.' },
    { args: command.arguments, words: [], says: "missing required argument 'output'" },
    {
      args: command.arguments,
      words: ['a', 'could'],
      says: 'sample: unknown kind could (Did you mean cold?)',
    },
  ])('are rejected: $says', async ({ args, words, says }) => {
    await expect(parseArguments({ ...command, arguments: args }, words)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(says),
    })
  })
})

test.for([
  { words: ['--help'], wants: 'help' },
  { words: ['-h', '--unknown'], wants: 'help' },
  { words: ['x', 'hot', '--format', 'nonsense', '--help'], wants: 'help' },
  { words: ['--version'], wants: 'version' },
  { words: ['--help', '--version'], wants: 'version' },
])('$words requests $wants, even with other errors', async ({ words, wants }) => {
  expect(await parse(...words)).toBe(wants)
})

describe('the commands', async () => {
  const commands = await Promise.all(
    Object.entries(COMMANDS).map(async ([name, load]) => ({ name, command: (await load()).command })),
  )

  test.for(commands)('$name has a consistent declaration', ({ name, command }) => {
    const { arguments: args, options } = command
    expect(command.name).toBe(name)
    const names = [...args, ...options, { name: 'help' }, { name: 'version' }].map(({ name }) => name)
    expect(names).toEqual([...new Set(names)])
    expect(names.filter((name) => !/^[a-z]+(-[a-z]+)*$/.test(name))).toEqual([])
    const isOptional = args.map(({ required }) => required !== true)
    expect(isOptional).toEqual(isOptional.toSorted())
    expect(args.slice(0, -1).filter(({ repeatable }) => repeatable)).toEqual([])
    const conflicting = options.flatMap(({ conflicts = [] }) => conflicts)
    expect(conflicting.filter((name) => !names.includes(name))).toEqual([])
    const flags = options.filter(({ value }) => value === undefined)
    expect(flags.filter((flag) => flag.choices ?? flag.default ?? flag.repeatable ?? flag.required)).toEqual(
      [],
    )
  })

  test.for(commands)('$name accepts its own examples', async ({ name, command }) => {
    for (const [line] of command.examples ?? []) {
      const [first, ...words] = (line.replace(/ [|<>].*?(?= --|$)/g, '').match(/"[^"]*"|\S+/g) ??
        []) as string[]
      expect(first).toBe(name)
      expect(await parseArguments(command, words)).toBeTypeOf('object')
    }
  })
})
