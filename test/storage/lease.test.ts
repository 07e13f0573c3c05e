import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { machineId } from '../../src/core/platform/lock/holder.ts'
import type { Bucket } from '../../src/storage/bucket.ts'
import { acquireLease, LEASE_FILE } from '../../src/storage/lease.ts'

/** Small objects in memory, with conditional writes. */
function memoryBucket(aheadMs = 0) {
  const objects = new Map<string, { text: string; version: string; writtenMs: number }>()
  let versions = 0
  const bucket: Pick<Bucket, 'name' | 'readText' | 'putText' | 'remove' | 'now'> = {
    name: 's3://lake/a',
    readText: async (path) => objects.get(path),
    putText: async (path, text, condition) => {
      const found = objects.get(path)
      if (condition !== undefined && 'ifAbsent' in condition && found !== undefined) return undefined
      if (condition !== undefined && 'ifVersion' in condition && found?.version !== condition.ifVersion)
        return undefined
      const version = String(++versions)
      objects.set(path, { text, version, writtenMs: Date.now() })
      return version
    },
    remove: async (paths) => {
      for (const path of paths) objects.delete(path)
    },
    now: () => Date.now() + aheadMs,
  }
  return { bucket: bucket as Bucket, objects }
}

const holder = (given: object) =>
  JSON.stringify({
    pid: process.pid,
    host: 'elsewhere',
    startedAt: '2026-01-01T00:00:00.000Z',
    ticks: null,
    ...given,
  })

test('only one process holds a lease, until it is released', async () => {
  const { bucket, objects } = memoryBucket()
  const lease = await acquireLease(bucket)
  await expect(acquireLease(bucket)).rejects.toMatchObject({
    code: 'OUTPUT_LOCKED',
    message: expect.stringContaining(`process ${process.pid} on ${hostname()}`),
  })
  await lease.release()
  expect(objects.size).toBe(0)
  await (await acquireLease(bucket)).release()
})

test.for([
  { what: 'another machine', text: holder({}) },
  {
    what: 'another machine with the same name',
    text: holder({ host: hostname(), pid: 2 ** 22 + 1, machine: 'another kernel' }),
  },
])('refuses while $what holds an unexpired lease', async ({ text }) => {
  const { bucket } = memoryBucket()
  await bucket.putText(LEASE_FILE, text)
  await expect(acquireLease(bucket)).rejects.toMatchObject({ code: 'OUTPUT_LOCKED' })
})

test.for([
  { what: 'an expired lease of another machine', text: holder({}), aheadMs: 61_000 },
  {
    what: 'a lease of an ended process on this machine',
    text: holder({ host: hostname(), pid: 2 ** 22 + 1, machine: await machineId() }),
    aheadMs: 0,
  },
  { what: 'an invalid lease', text: 'rubbish', aheadMs: 0 },
])('takes over $what', async ({ text, aheadMs }) => {
  const { bucket, objects } = memoryBucket(aheadMs)
  await bucket.putText(LEASE_FILE, text)
  const lease = await acquireLease(bucket)
  expect(objects.get(LEASE_FILE)?.text).toContain(`"pid":${process.pid}`)
  await lease.release()
})

test('a lease that other runs keep changing is given up after a few attempts', async () => {
  const { bucket } = memoryBucket(61_000)
  let reads = 0
  const contended: Bucket = {
    ...bucket,
    readText: async (path) => {
      reads += 1
      if (reads > 100) throw new Error('attempts without limit')
      if (reads % 2 === 0) return undefined
      const found = await bucket.readText(path)
      await bucket.putText(path, holder({}))
      return found
    },
  }
  await bucket.putText(LEASE_FILE, holder({}))
  await expect(acquireLease(contended)).rejects.toMatchObject({
    code: 'OUTPUT_LOCKED',
    message: expect.stringContaining('other runs keep acquiring the output'),
  })
  expect(reads).toBe(10)
})

test('a lease that is released during an attempt is acquired by the next one', async () => {
  const { bucket, objects } = memoryBucket()
  await bucket.putText(LEASE_FILE, holder({}))
  const released: Bucket = {
    ...bucket,
    readText: async (path) => {
      const found = await bucket.readText(path)
      if (!found?.text.includes('elsewhere')) return found
      objects.delete(path)
      return undefined
    },
  }
  const lease = await acquireLease(released)
  expect(objects.get(LEASE_FILE)?.text).toContain(`"pid":${process.pid}`)
  await lease.release()
})

test('a release does not remove the lease of another process', async () => {
  const { bucket, objects } = memoryBucket()
  const lease = await acquireLease(bucket)
  await bucket.putText(LEASE_FILE, holder({ lease: 'other' }))
  await lease.release()
  expect(objects.get(LEASE_FILE)?.text).toContain('elsewhere')
})
