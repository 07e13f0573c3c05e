import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { generateToken, readWatchState, writeWatchState } from '../../src/watch/job-webhooks.ts'
import { tempFile, tempFolder } from '../helpers/temp-folder.ts'

const newPath = () => join(tempFolder(), 'watch', 'state.json')

test('stores token and webhooks, readable by the owner only', async () => {
  const path = newPath()
  const state = { token: generateToken(), webhooks: [{ id: 'w', addresses: ['0xa'] }] }
  expect(await readWatchState(path)).toBeUndefined()
  await writeWatchState(path, state)
  expect(await readWatchState(path)).toEqual(state)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(state.token).toMatch(/^[0-9a-f]{64}$/)
})

test('never generates the same token twice', () => {
  expect(generateToken()).not.toBe(generateToken())
})

test.for(['', 'null', '[]', '{"token":7}', '{"token":"../x","webhooks":[]}', '{"token"'])(
  'ignores the damaged file %j',
  async (text) => {
    const path = tempFile('state.json', text)
    expect(await readWatchState(path)).toBeUndefined()
  },
)

test('skips invalid webhooks', async () => {
  const path = newPath()
  const good = { id: 'w', addresses: ['0xa'] }
  await writeWatchState(path, { token: generateToken(), webhooks: [good] })
  const spoilt = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(
    path,
    JSON.stringify({ ...spoilt, webhooks: [null, 7, { id: 1 }, { id: 'x', addresses: [1] }, good] }),
  )
  expect((await readWatchState(path))?.webhooks).toEqual([good])
})

test('reports a file that cannot be written', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'file'), '')
  const work = writeWatchState(join(folder, 'file', 'state.json'), { token: generateToken(), webhooks: [] })
  await expect(work).rejects.toMatchObject({ code: 'OUTPUT_FAILED' })
})
