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

test('what is open at the same time shares one, which is gone with the last of them', async () => {
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

test('those that are opened in one turn share one too', async () => {
  const [first, second] = await Promise.all([open('shared'), open('shared')])
  await first.connection.run('create table seen (a integer)')
  expect(await second.show()).toEqual(['seen', '381.4 MiB'])
  await Promise.all([first.close(), second.close()])
})

test.for(['160MB', '640MB'] as const)('%s is memory of its own, with a folder that goes', async (memory) => {
  const [own, shared] = [await open(memory), await open('shared')]
  await shared.connection.run('create table seen (a integer)')
  expect(await own.show()).toEqual([memory === '160MB' ? '152.5 MiB' : '610.3 MiB'])
  await own.close()
  expect(existsSync(own.scratch)).toBe(false)
  expect(await shared.show()).toEqual(['seen', '381.4 MiB'])
  await shared.close()
})

test('work that fails, or is broken off, leaves the others alone', async () => {
  const [first, second] = [await open('shared'), await open('shared')]
  const broken = first.connection.run('select count(*) from range(1e12::bigint) a')
  // One that comes before the work has begun is not heard.
  const breaking = setInterval(() => first.connection.interrupt(), 5)
  await expect(broken).rejects.toThrow('Interrupted')
  clearInterval(breaking)
  await expect(first.connection.run('select 1 / missing')).rejects.toThrow()
  await first.close()
  expect(await second.show()).toEqual(['381.4 MiB'])
  await second.close()
})
