import { expect, test } from 'vitest'
import { engineError, importDriver } from '../../src/load/engine-error.ts'

test('says the first line of what an engine threw, without secrets', () => {
  const failure = engineError('postgres://db', new Error('no password pw given\nat line 3'), {
    secrets: ['pw'],
  })
  expect(failure).toMatchObject({ code: 'LOAD_FAILED', message: 'postgres://db: no password … given' })
})

test('shows no part of a secret where a message is cut', () => {
  const secret = 'correct-horse-battery'
  const { message } = engineError('db', new Error(`${'x'.repeat(390)}${secret}`), { secrets: [secret] })
  expect(message).not.toContain('correct')
})

test('says the code of a fault that has no words', () => {
  const fault = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED', message: '' })
  expect(engineError('db', fault).message).toBe('db: ECONNREFUSED')
})

test.for([
  'Out of Memory Error: failed to allocate data of size 8.0 MiB (240.4 MiB/244.1 MiB used)',
  'TransactionContext Error: Failed to commit: failed to pin block of size 256.0 KiB (243.9 MiB/244.1 MiB used)',
])('names --memory where DuckDB has too little: %s', (words) => {
  expect(engineError('lake.db', new Error(words)).fix).toContain('--memory 1GB')
})

test("gives no advice on DuckDB's memory where another engine has too little", () => {
  const words = 'out of memory: Failed on request of size 21000035 in memory context "COPY".'
  expect(engineError('postgres://db', new Error(words)).fix).not.toContain('--memory')
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
