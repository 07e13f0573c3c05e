import { expect, test } from 'vitest'
import { createServiceClient, defineJob, type ExportError, readJob, rows, run } from '../../src/index.ts'

const job = await defineJob({
  chain: 43114,
  addresses: ['0x58A57ed9d8d624cBD12e2C467D34787555bB1b25'],
  endBlock: 421,
  service: { baseUrl: 'demo' },
})

/** The service without types, as plain JavaScript sees it. */
// biome-ignore lint/suspicious/noExplicitAny: these tests make calls that the types would refuse
const untyped = { rows, run, readJob, createServiceClient, defineJob } as any

async function errorOf(call: () => unknown): Promise<ExportError> {
  try {
    const result = await call()
    const iterator = (result as AsyncGenerator<unknown>)[Symbol.asyncIterator]?.()
    await iterator?.next()
  } catch (thrown) {
    return thrown as ExportError
  }
  throw new Error('nothing was refused')
}

const KEY = 'wl-a-key-that-stays-secret'

test.for([
  {
    what: 'an unknown table',
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
    what: 'an unknown option of rows',
    call: () => untyped.rows(job, 'ledger', { onRejects: () => {} }),
    message: 'rows has no option onRejects',
    fix: 'Did you mean onReject?',
  },
  {
    what: 'an unknown option of run',
    call: () => untyped.run([job], { maxRequest: 5 }),
    message: 'run has no option maxRequest',
    fix: 'Did you mean maxRequests?',
  },
  {
    what: 'an unknown option without a similar name',
    call: () => untyped.run([job], { parallelism: 5 }),
    message: 'run has no option parallelism',
    fix: /^It has apiKey, /,
  },
  {
    what: 'a limit that is not a number',
    call: () => untyped.run([job], { maxRequests: '5' }),
    message: 'run: maxRequests is string, expected a whole number',
    fix: /^Correct the call/,
  },
  {
    what: 'a negative limit',
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
    what: 'the promise of a job',
    call: () => untyped.rows(readJob('jobs/examples/demo.yaml'), 'ledger'),
    message: 'the argument is not a job',
    fix: /await readJob/,
  },
  {
    what: 'a job with an unknown table',
    call: () => untyped.run([{ ...job, tables: ['ledgr'] }]),
    message: 'job: there is no table ledgr',
    fix: 'Did you mean ledger?',
  },
  {
    what: 'an unknown override',
    call: () => untyped.readJob('jobs/examples/demo.yaml', { overrides: { ouput: 'x' } }),
    message: 'readJob has no option ouput',
    fix: 'Did you mean output?',
  },
  {
    what: 'an unknown option of a client',
    call: () => untyped.createServiceClient({ baseUrl: 'http://127.0.0.1', key: KEY }),
    message: 'createServiceClient has no option key',
    fix: /^It has baseUrl, /,
  },
])('the library refuses $what with a fix', async ({ call, message, fix }) => {
  const error = await errorOf(call)
  expect(error).toMatchObject({
    code: 'USAGE',
    message,
    fix: typeof fix === 'string' ? fix : expect.stringMatching(fix),
  })
  expect(`${error.message} ${error.fix}`).not.toContain(KEY)
})

test('readJob works without overrides and environment', async () => {
  expect((await readJob('jobs/examples/demo.yaml')).name).toBe('demo')
})
