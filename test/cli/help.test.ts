import { describe, expect, test } from 'vitest'
import { programName } from '../../src/cli/program-name.ts'
import { runCommand } from '../helpers/command.ts'

const COMMANDS = [
  'demo',
  'init',
  'run',
  'worker',
  'plan',
  'validate',
  'status',
  'verify',
  'balances',
  'convert',
  'prices',
  'statement',
  'report',
  'query',
  'compact',
  'expire',
  'load',
  'audit',
  'reconcile',
  'reindex',
  'watch',
  'webhooks',
  'schema',
  'serve',
]

/** Returns the help as shown by an installed program. */
const helpOf = async (...args: string[]) =>
  (await runCommand([...args, '--help'])).stdout.replaceAll(programName(), 'walletlake')

test('the help lists exactly these commands', async () => {
  const [, list = ''] = (await helpOf()).split('Commands:\n')
  const named = [...list.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name)
  expect(named.filter((name) => name !== 'help' && name !== 'walletlake')).toEqual(COMMANDS)
})

describe('no line of the help is wider than 80 columns', () => {
  test.for([[], ...COMMANDS.map((name) => [name])])('of %j', async (words) => {
    const lines = (await helpOf(...words)).split('\n')
    expect(lines.length).toBeGreaterThan(5)
    expect(lines.filter((line) => line.length > 80)).toEqual([])
  })
})
