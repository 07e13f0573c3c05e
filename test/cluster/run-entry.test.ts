import { mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { checkLocation } from '../../src/cluster/destination.ts'
import { type OpenRun, parseRuns, signRun } from '../../src/cluster/server.ts'
import { parseTask } from '../../src/cluster/tasks.ts'
import { GENERATOR } from '../../src/core/model/version.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const ATTEMPT = '0123456789abcdef'
const RUN: OpenRun = {
  id: `many-${ATTEMPT}`,
  name: 'many',
  attempt: ATTEMPT,
  version: GENERATOR,
  output: '/lake',
  quota: `walletlake:quota:${'1'.repeat(32)}`,
  signature: 'a'.repeat(64),
}

describe('a queue entry', () => {
  test('is parsed as a run if every field is valid', () => {
    expect(parseRuns({ [RUN.id]: JSON.stringify(RUN) })).toEqual({ runs: [RUN], invalid: [] })
  })

  test.for<[string, unknown]>([
    ['text that is not JSON', undefined],
    ['a number', 5],
    ['no fields', {}],
    ['a name that forges a log line', { ...RUN, name: 'many\nKEY_REFUSED: gone' }],
    ['an output with a control character', { ...RUN, output: '/lake\u001b]0;x\u0007' }],
    ['an attempt with a path traversal', { ...RUN, attempt: '../../../../etc' }],
    ['the id of another run', { ...RUN, id: `other-${ATTEMPT}` }],
    ['a bucket that is a host', { ...RUN, store: { bucket: 'evil.example/x', prefix: '' } }],
    ['a prefix with a path traversal', { ...RUN, store: { bucket: 'lake', prefix: '../other' } }],
    ['a region that is a host', { ...RUN, store: { bucket: 'lake', prefix: '', region: 'evil.example/#' } }],
    ['an extra field', { ...RUN, command: 'rm' }],
  ])('is ignored and reported with %s', ([, value]) => {
    const text = value === undefined ? 'not JSON' : JSON.stringify(value)
    const { runs, invalid } = parseRuns({ [RUN.id]: text })
    expect(runs).toEqual([])
    expect(invalid).toEqual([{ id: RUN.id, reason: 'its entry in the queue is malformed' }])
  })

  test('of another version is rejected with both versions', () => {
    const { runs, invalid } = parseRuns({
      [RUN.id]: JSON.stringify({ ...RUN, version: 'walletlake 9.9.9', more: 1 }),
    })
    expect(runs).toEqual([])
    expect(invalid[0]?.reason).toBe(
      `it was started by walletlake 9.9.9, but this is ${GENERATOR}: the run and its workers must have the same version`,
    )
  })

  test.for<[string, Partial<OpenRun>]>([
    ['output', { output: '/etc' }],
    ['store', { store: { bucket: 'lake', prefix: '', endpoint: 'https://evil.example' } }],
    ['attempt', { attempt: 'f'.repeat(16) }],
    ['quota', { quota: `walletlake:quota:${'2'.repeat(32)}` }],
  ])('with another %s has another signature', ([, change]) => {
    expect(signRun({ ...RUN, ...change }, 'key')).not.toBe(signRun(RUN, 'key'))
    expect(signRun(RUN, 'other key')).not.toBe(signRun(RUN, 'key'))
  })
})

describe('the location of a run', () => {
  const ENDPOINTS = ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'] as const
  afterEach(() => {
    for (const name of ENDPOINTS) delete process.env[name]
  })
  const inBucket = (endpoint?: string) => {
    const store = { bucket: 'lake', prefix: 'many', ...(endpoint !== undefined && { endpoint }) }
    return { output: 's3://lake/many', store, attempt: ATTEMPT }
  }

  test('in an object store is rejected unless it is the worker’s own store', async () => {
    expect(await checkLocation(inBucket('https://evil.example'))).toContain("this worker's is at AWS")
    process.env.AWS_ENDPOINT_URL_S3 = 'https://own.example/'
    expect(await checkLocation(inBucket('https://own.example'))).toBeUndefined()
    expect(await checkLocation(inBucket('https://evil.example'))).toContain('https://evil.example')
    expect(await checkLocation(inBucket())).toContain('is at AWS')
    expect(await checkLocation({ ...inBucket('https://own.example'), output: 's3://lake/other' })).toContain(
      'malformed',
    )
  })

  test('in a folder is rejected if the folder is missing or its path contains a link', async () => {
    const folder = realpathSync(tempFolder())
    const at = (name: string) => ({ output: join(folder, name), attempt: ATTEMPT })
    mkdirSync(join(folder, 'lake', '.walletlake', 'cluster'), { recursive: true })
    mkdirSync(join(folder, 'elsewhere'))
    expect(await checkLocation(at('lake'))).toBeUndefined()
    expect(await checkLocation(at('missing'))).toContain('does not exist here')
    symlinkSync(join(folder, 'lake'), join(folder, 'link'))
    expect(await checkLocation(at('link'))).toContain('is not a real path')
    expect(await checkLocation({ ...at('lake'), output: `${folder}/lake/../lake` })).toContain(
      'is not a real path',
    )
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'lake', '.walletlake', 'cluster', ATTEMPT))
    expect(await checkLocation(at('lake'))).toContain('has links')
  })

  test('outside of the roots of a worker is rejected', async () => {
    const folder = realpathSync(tempFolder())
    for (const name of ['lake/many', 'lake2']) mkdirSync(join(folder, name), { recursive: true })
    const at = (name: string) => ({ output: join(folder, name), attempt: ATTEMPT })
    const roots = [join(folder, 'lake'), 's3://lake/mine']
    expect(await checkLocation(at('lake/many'), roots)).toBeUndefined()
    expect(await checkLocation(at('lake'), roots)).toBeUndefined()
    expect(await checkLocation(at('lake2'), roots)).toContain('is outside of')
    expect(await checkLocation(inBucket(), roots)).toContain('is outside of')
    expect(await checkLocation(inBucket(), ['s3://lake/many/'])).toBeUndefined()
    expect(await checkLocation(inBucket(), ['s3://lake/man'])).toContain('is outside of')
  })
})

test.for<[unknown]>([
  [null],
  [{ kind: 'read', first: 0, end: 4, from: 0, to: 10 }],
  [{ kind: 'read', first: 2, end: 1, from: 0, to: 10 }],
  [{ kind: 'read', first: 0, end: 1, from: 0, to: 101 }],
  [{ kind: 'read', first: 0, end: 1, from: -1, to: 10 }],
  [{ kind: 'write', from: 5, to: 5 }],
  [{ kind: 'write', from: 0, to: 10, path: '../x' }],
  [{ kind: 'write', from: '../..', to: 10 }],
  [{ kind: 'exec', from: 0, to: 10 }],
])('does not parse a value that is not a task of the run: %j', ([value]) => {
  expect(parseTask(value, { wallets: 3, range: { from: 0, to: 100 } })).toBeUndefined()
})
