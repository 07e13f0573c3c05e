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

test('names the command that installs a missing driver', async () => {
  const name: string = 'no-such-driver'
  const failure = await importDriver('pg pg-copy-streams', () => import(name)).catch((thrown) => thrown)
  expect(failure).toMatchObject({
    code: 'LOAD_FAILED',
    message: 'the driver pg pg-copy-streams is not installed',
    fix: expect.stringContaining('npm install pg pg-copy-streams'),
  })
})
