import { expect, test } from 'vitest'
import { createServiceClient, defineJob, type ExportError, readJob, rows, run } from '../../src/index.ts'

const job = await defineJob({
  chain: 43114,
  addresses: ['0x58A57ed9d8d624cBD12e2C467D34787555bB1b25'],
  endBlock: 421,
  service: { baseUrl: 'demo' },
})

/** Calls without the types, as plain JavaScript may. */
// biome-ignore lint/suspicious/noExplicitAny: what types would refuse is what these tests are about
const untyped = { rows, run, readJob, createServiceClient, defineJob } as any

async function refusalOf(call: () => unknown): Promise<ExportError> {
  try {
    const answer = await call()
    const iterator = (answer as AsyncGenerator<unknown>)[Symbol.asyncIterator]?.()
    await iterator?.next()
  } catch (thrown) {
    return thrown as ExportError
  }
  throw new Error('nothing was refused')
}

const KEY = 'wl-a-key-that-stays-secret'

test.for([
  {
    what: 'a table that there is not',
    call: () => untyped.rows(job, 'ledgers'),
    message: 'there is no table ledgers',
    fix: 'Did you mean ledger?',
  },
  {
    what: 'no table at all',
    call: () => untyped.rows(job),
    message: 'there is no table undefined',
    fix: /^Name one of transactions, /,
  },
  {
    what: 'an option of rows that there is not',
    call: () => untyped.rows(job, 'ledger', { onRejects: () => {} }),
    message: 'rows has no option onRejects',
    fix: 'Did you mean onReject?',
  },
  {
    what: 'an option of run that there is not',
    call: () => untyped.run([job], { maxRequest: 5 }),
    message: 'run has no option maxRequest',
    fix: 'Did you mean maxRequests?',
  },
  {
    what: 'an option far from any',
    call: () => untyped.run([job], { parallelism: 5 }),
    message: 'run has no option parallelism',
    fix: /^It has apiKey, /,
  },
  {
    what: 'a bound that is no number',
    call: () => untyped.run([job], { maxRequests: '5' }),
    message: 'run: maxRequests is string, expected a whole number',
    fix: /^Correct the call/,
  },
  {
    what: 'a bound below zero',
    call: () => untyped.run([job], { deadlineMs: -1 }),
    message: 'run: deadlineMs is -1, expected a number of milliseconds',
    fix: /^Correct the call/,
  },
  {
    what: 'a key under a wrong name',
    call: () => untyped.run([job], { apikey: KEY }),
    message: 'run has no option apikey',
    fix: 'Did you mean apiKey?',
  },
  {
    what: 'a job that is not in a list',
    call: () => untyped.run(job),
    message: 'run needs a list of at least one job',
    fix: 'Call it as run([job]).',
  },
  {
    what: 'no job',
    call: () => untyped.run([]),
    message: 'run needs a list of at least one job',
    fix: 'Call it as run([job]).',
  },
  {
    what: 'the fields of a job',
    call: () => untyped.run([{ chain: 43114, addresses: [] }]),
    message: 'the argument is not a job',
    fix: /await defineJob/,
  },
  {
    what: 'a job that nobody waited for',
    call: () => untyped.rows(readJob('jobs/demo.yaml'), 'ledger'),
    message: 'the argument is not a job',
    fix: /await readJob/,
  },
  {
    what: 'a job with a table that there is not',
    call: () => untyped.run([{ ...job, tables: ['ledgr'] }]),
    message: 'job: there is no table ledgr',
    fix: 'Did you mean ledger?',
  },
  {
    what: 'an override that no job has',
    call: () => untyped.readJob('jobs/demo.yaml', { overrides: { ouput: 'x' } }),
    message: 'readJob has no option ouput',
    fix: 'Did you mean output?',
  },
  {
    what: 'an option of a client that there is not',
    call: () => untyped.createServiceClient({ baseUrl: 'http://127.0.0.1', key: KEY }),
    message: 'createServiceClient has no option key',
    fix: /^It has baseUrl, /,
  },
])('the library refuses $what and says what to give', async ({ call, message, fix }) => {
  const refusal = await refusalOf(call)
  expect(refusal).toMatchObject({
    code: 'USAGE',
    message,
    fix: typeof fix === 'string' ? fix : expect.stringMatching(fix),
  })
  expect(`${refusal.message} ${refusal.fix}`).not.toContain(KEY)
})

test('a job file is read without overrides and environment', async () => {
  expect((await readJob('jobs/demo.yaml')).name).toBe('demo')
})
