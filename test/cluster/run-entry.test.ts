import { mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { checkLocation } from '../../src/cluster/destination.ts'
import { parseRuns, signRun } from '../../src/cluster/run-entry.ts'
import type { OpenRun } from '../../src/cluster/server/shared-server.ts'
import { parseTask } from '../../src/cluster/task.ts'
import { GENERATOR } from '../../src/core/model/version.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const ATTEMPT = '0123456789abcdef'
const RUN: OpenRun = {
  ...{ id: `many-${ATTEMPT}`, name: 'many', attempt: ATTEMPT, version: GENERATOR, output: '/lake' },
  ...{ quota: `walletlake:quota:${'1'.repeat(32)}`, seal: 'a'.repeat(64) },
}

describe('an entry of the queue', () => {
  test('is a run where every field fits', () => {
    expect(parseRuns({ [RUN.id]: JSON.stringify(RUN) })).toEqual({ runs: [RUN], invalid: [] })
  })

  test.for<[string, unknown]>([
    ['no JSON', undefined],
    ['a number', 5],
    ['no field', {}],
    ['a name that forges a line of the log', { ...RUN, name: 'many\nKEY_REFUSED: gone' }],
    ['an output with a control character', { ...RUN, output: '/lake\u001b]0;x\u0007' }],
    ['an attempt that leads elsewhere', { ...RUN, attempt: '../../../../etc' }],
    ['an id of another run', { ...RUN, id: `other-${ATTEMPT}` }],
    ['a bucket that is a host', { ...RUN, store: { bucket: 'evil.example/x', prefix: '' } }],
    ['a prefix that leads elsewhere', { ...RUN, store: { bucket: 'lake', prefix: '../other' } }],
    ['a region that is a host', { ...RUN, store: { bucket: 'lake', prefix: '', region: 'evil.example/#' } }],
    ['a field more', { ...RUN, command: 'rm' }],
  ])('is left alone and named with %s', ([, value]) => {
    const text = value === undefined ? 'not JSON' : JSON.stringify(value)
    const { runs, invalid } = parseRuns({ [RUN.id]: text })
    expect(runs).toEqual([])
    expect(invalid).toEqual([{ id: RUN.id, reason: 'its entry in the queue is malformed' }])
  })

  test('of another version is refused with both versions', () => {
    const { runs, invalid } = parseRuns({
      [RUN.id]: JSON.stringify({ ...RUN, version: 'walletlake 9.9.9', more: 1 }),
    })
    expect(runs).toEqual([])
    expect(invalid[0]?.reason).toBe(
      `it was begun by walletlake 9.9.9, and this is ${GENERATOR}: run and workers must be of one version`,
    )
  })

  test.for<[string, Partial<OpenRun>]>([
    ['output', { output: '/etc' }],
    ['store', { store: { bucket: 'lake', prefix: '', endpoint: 'https://evil.example' } }],
    ['attempt', { attempt: 'f'.repeat(16) }],
    ['quota', { quota: `walletlake:quota:${'2'.repeat(32)}` }],
  ])('with another %s breaks the seal of the key', ([, change]) => {
    expect(signRun({ ...RUN, ...change }, 'key')).not.toBe(signRun(RUN, 'key'))
    expect(signRun(RUN, 'other key')).not.toBe(signRun(RUN, 'key'))
  })
})

describe('the place of a run', () => {
  const ENDPOINTS = ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'] as const
  afterEach(() => {
    for (const name of ENDPOINTS) delete process.env[name]
  })
  const inBucket = (endpoint?: string) => {
    const store = { bucket: 'lake', prefix: 'many', ...(endpoint !== undefined && { endpoint }) }
    return { output: 's3://lake/many', store, attempt: ATTEMPT }
  }

  test('in an object store is refused unless the store is the worker’s own', async () => {
    expect(await checkLocation(inBucket('https://evil.example'))).toContain("this worker's is at AWS")
    process.env.AWS_ENDPOINT_URL_S3 = 'https://own.example/'
    expect(await checkLocation(inBucket('https://own.example'))).toBeUndefined()
    expect(await checkLocation(inBucket('https://evil.example'))).toContain('https://evil.example')
    expect(await checkLocation(inBucket())).toContain('is at AWS')
    expect(await checkLocation({ ...inBucket('https://own.example'), output: 's3://lake/other' })).toContain(
      'malformed',
    )
  })

  test('in a folder is refused where it is not there, or leads elsewhere by a link', async () => {
    const folder = realpathSync(tempFolder())
    const at = (name: string) => ({ output: join(folder, name), attempt: ATTEMPT })
    mkdirSync(join(folder, 'lake', '.walletlake', 'cluster'), { recursive: true })
    mkdirSync(join(folder, 'elsewhere'))
    expect(await checkLocation(at('lake'))).toBeUndefined()
    expect(await checkLocation(at('gone'))).toContain('is not there')
    symlinkSync(join(folder, 'lake'), join(folder, 'link'))
    expect(await checkLocation(at('link'))).toContain('is no real path')
    expect(await checkLocation({ ...at('lake'), output: `${folder}/lake/../lake` })).toContain(
      'is no real path',
    )
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'lake', '.walletlake', 'cluster', ATTEMPT))
    expect(await checkLocation(at('lake'))).toContain('has links')
  })

  test('is refused outside of what a worker is limited to', async () => {
    const folder = realpathSync(tempFolder())
    for (const name of ['lake/many', 'lake2']) mkdirSync(join(folder, name), { recursive: true })
    const at = (name: string) => ({ output: join(folder, name), attempt: ATTEMPT })
    const roots = [join(folder, 'lake'), 's3://lake/mine']
    expect(await checkLocation(at('lake/many'), roots)).toBeUndefined()
    expect(await checkLocation(at('lake'), roots)).toBeUndefined()
    expect(await checkLocation(at('lake2'), roots)).toContain('lies outside of')
    expect(await checkLocation(inBucket(), roots)).toContain('lies outside of')
    expect(await checkLocation(inBucket(), ['s3://lake/many/'])).toBeUndefined()
    expect(await checkLocation(inBucket(), ['s3://lake/man'])).toContain('lies outside of')
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
])('what is no unit of a run is none: %j', ([value]) => {
  expect(parseTask(value, { wallets: 3, range: { from: 0, to: 100 } })).toBeUndefined()
})
