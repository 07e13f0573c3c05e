import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type MemoryLimit, openDuckDb } from '../../../src/core/duckdb/connection.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

const SHOW = "select table_name from duckdb_tables() union all select current_setting('memory_limit')"

async function open(memory: MemoryLimit) {
  const scratch = join(tempFolder(), 'scratch')
  mkdirSync(scratch)
  const { connection, close } = await openDuckDb(memory, scratch)
  const show = async () => (await connection.runAndReadAll(SHOW)).getRows().flat()
  return { connection, close, show, scratch }
}

test('connections that are open at the same time share an instance until the last one closes', async () => {
  const [first, second] = [await open('shared'), await open('shared')]
  await first.connection.run('create table seen (a integer)')
  expect(await second.show()).toEqual(['seen', '381.4 MiB'])
  await first.close()
  const third = await open('shared')
  expect(await third.show()).toEqual(['seen', '381.4 MiB'])
  await second.close()
  await third.close()
  const fourth = await open('shared')
  expect(await fourth.show()).toEqual(['381.4 MiB'])
  await fourth.close()
})

test('connections that are opened concurrently share an instance', async () => {
  const [first, second] = await Promise.all([open('shared'), open('shared')])
  await first.connection.run('create table seen (a integer)')
  expect(await second.show()).toEqual(['seen', '381.4 MiB'])
  await Promise.all([first.close(), second.close()])
})

test.for(['160MB', '640MB'] as const)(
  '%s opens a separate instance and removes its folder on close',
  async (memory) => {
    const [own, shared] = [await open(memory), await open('shared')]
    await shared.connection.run('create table seen (a integer)')
    expect(await own.show()).toEqual([memory === '160MB' ? '152.5 MiB' : '610.3 MiB'])
    await own.close()
    expect(existsSync(own.scratch)).toBe(false)
    expect(await shared.show()).toEqual(['seen', '381.4 MiB'])
    await shared.close()
  },
)

test('a failed or interrupted statement does not affect other connections', async () => {
  const [first, second] = [await open('shared'), await open('shared')]
  const interrupted = first.connection.run('select count(*) from range(1e12::bigint) a')
  // An interrupt before the statement starts has no effect.
  const timer = setInterval(() => first.connection.interrupt(), 5)
  await expect(interrupted).rejects.toThrow('Interrupted')
  clearInterval(timer)
  await expect(first.connection.run('select 1 / missing')).rejects.toThrow()
  await first.close()
  expect(await second.show()).toEqual(['381.4 MiB'])
  await second.close()
})
