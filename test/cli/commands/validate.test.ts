import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand } from '../../helpers/command.ts'
import { A, folderWith, LEAST } from '../../job/helpers.ts'

test('reports a missing service together with other errors', async () => {
  const folder = await folderWith({ 'job.yaml': `${LEAST}format: xml\n` })
  const { exit, stderr } = await runCommand(['validate', join(folder, 'job.yaml')])
  expect(exit).toBe(2)
  expect(stderr.replaceAll('\n  ', ' ')).toContain(
    "job.yaml:1:1: service.baseUrl: found nothing, expected the service's address: here, in WALLETLAKE_BASE_URL or as --base-url (demo: the embedded one)\n",
  )
  expect(stderr).toContain('job.yaml:3:9: format: found "xml"')
})

test.for([
  { by: 'the environment', args: [], env: { WALLETLAKE_BASE_URL: 'https://api.example.com' } },
  { by: 'an option', args: ['--base-url', 'https://api.example.com/v1'], env: {} },
])('accepts a job whose service is set by $by', async ({ args, env }) => {
  const folder = await folderWith({ 'job.yaml': LEAST })
  const { exit, stdout } = await runCommand(['validate', join(folder, 'job.yaml'), ...args], env)
  expect({ exit, stdout }).toEqual({
    exit: 0,
    stdout: `${join(folder, 'job.yaml')}: OK (chain 1, 1 wallet)\n`,
  })
})

test('reports an error that two jobs share once', async () => {
  const folder = await folderWith({ 'a.yaml': LEAST, 'b.yaml': LEAST })
  const jobs = [join(folder, 'a.yaml'), join(folder, 'b.yaml')]
  const { stderr } = await runCommand(['validate', ...jobs, '--base-url', 'nowhere'])
  expect(stderr).toMatch(/^JOB_INVALID: --base-url: found "nowhere", expected [^\n]+\nfix: /)
})

test.for(['run', 'init'])('%s verifies the checksum of an address', async (command) => {
  const wrong = `0xA${A.slice(3)}`
  const { exit, stderr } = await runCommand([
    command,
    '--chain',
    '1',
    '--address',
    wrong,
    '--base-url',
    'demo',
    ...(command === 'init' ? [join(await folderWith({}), 'x.yaml')] : []),
  ])
  expect(exit).toBe(2)
  expect(stderr).toContain(`JOB_INVALID: --address: found "${wrong}",`)
  expect(stderr).toContain('by its checksum (EIP-55)')
})

const OF_OPTIONS = 'fix: Correct the options named above. The --help of the command describes them.\n'

test.for([
  { words: ['--address', '0x12'] },
  { words: ['--address', A, '--tables', 'nothing'] },
  { words: ['--address', A, '--concurrency', '0'] },
])('without a job file, the fix refers to the options: $words', async ({ words }) => {
  const { stderr } = await runCommand(['plan', '--chain', '1', '--base-url', 'demo', ...words])
  expect(plainName(stderr)).toContain(OF_OPTIONS)
})

test('the fix refers to the invalid options, variables or lines of the file', async () => {
  const folder = await folderWith({ 'good.yaml': LEAST, 'bad.yaml': `${LEAST}format: xml\n` })
  const [good, bad] = [join(folder, 'good.yaml'), join(folder, 'bad.yaml')]
  const fixOf = async (args: string[], env: Record<string, string> = {}) =>
    plainName(/fix: .*\n/.exec((await runCommand(['validate', ...args], env)).stderr)?.[0] ?? '')
  const [option, variable] = [['--concurrency', '0'], { WALLETLAKE_BASE_URL: 'nowhere' }]
  expect(await fixOf([good, '--base-url', 'demo', ...option])).toBe(OF_OPTIONS)
  expect(await fixOf([good], variable)).toBe('fix: Correct the environment variables named above.\n')
  expect(await fixOf([good, ...option], variable)).toContain('Correct the options and variables named above.')
  expect(await fixOf([bad, '--base-url', 'demo', ...option])).toContain('Correct the lines named above.')
  expect(await fixOf([good, bad, '--base-url', 'demo', ...option])).toContain(
    'Correct the lines named above.',
  )
})

/** Replaces the command that started this process by `walletlake`. */
const plainName = (text: string) => text.replace(/`\S.* (run|schema)/, '`walletlake $1')
