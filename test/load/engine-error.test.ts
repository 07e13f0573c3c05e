import { expect, test } from 'vitest'
import { engineError, importDriver } from '../../src/load/engine-error.ts'

test("reports the first line of an engine's error without secrets", () => {
  const failure = engineError('postgres://db', new Error('no password swordfish given\nat line 3'), {
    secrets: ['swordfish'],
  })
  expect(failure).toMatchObject({ code: 'LOAD_FAILED', message: 'postgres://db: no password … given' })
})

test('shows no part of a secret if a message is truncated', () => {
  const secret = 'correct-horse-battery'
  const { message } = engineError('db', new Error(`${'x'.repeat(390)}${secret}`), { secrets: [secret] })
  expect(message).not.toContain('correct')
})

test('reports the code of an error without a message', () => {
  const error = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED', message: '' })
  expect(engineError('db', error).message).toBe('db: ECONNREFUSED')
})

test.for([
  'Out of Memory Error: failed to allocate data of size 8.0 MiB (240.4 MiB/244.1 MiB used)',
  'TransactionContext Error: Failed to commit: failed to pin block of size 256.0 KiB (243.9 MiB/244.1 MiB used)',
])('suggests --memory if DuckDB runs out of memory: %s', (message) => {
  expect(engineError('lake.db', new Error(message)).fix).toContain('--memory 1GB')
})

test('does not suggest --memory if another engine runs out of memory', () => {
  const message = 'out of memory: Failed on request of size 21000035 in memory context "COPY".'
  expect(engineError('postgres://db', new Error(message)).fix).not.toContain('--memory')
})

test('names the command that installs a missing driver', async () => {
  const name: string = 'no-such-driver'
  const failure = await importDriver('pg pg-copy-streams', () => import(name)).catch((thrown) => thrown)
  expect(failure).toMatchObject({
    code: 'LOAD_FAILED',
    message: 'the driver pg pg-copy-streams is not installed',
    fix: expect.stringContaining('npm install pg pg-copy-streams'),
  })
})
