import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { discardChanges, publishChanges, recoverChanges } from '../../src/files/changes.ts'
import { folderStore } from '../../src/storage/store.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/** Creates an output with this manifest, and functions to publish change lists there. */
function openOutput(manifest: string) {
  const output = tempFolder()
  const store = folderStore(output)
  const replace = (text: string) => writeFileSync(join(output, 'manifest.json'), text)
  mkdirSync(join(output, '.walletlake'))
  replace(manifest)
  const publish = (run: number, text: string, from = 0) => {
    const staged = join(output, '.walletlake', 'staged')
    writeFileSync(staged, text)
    const changes = { range: { from, to: 9 }, removed: { ledger: 1 }, added: {}, file: undefined }
    return publishChanges(staged, { store, run, changes })
  }
  const folder = join(output, 'changes')
  const lists = () => (existsSync(folder) ? readdirSync(folder).sort() : [])
  return {
    output,
    store,
    replace,
    publish,
    lists,
    textOf: (list: string) => readFileSync(join(folder, list), 'utf8'),
  }
}

const [ONE, LATER, TWO, THREE] = ['1-000000000000', '1-000000000005', '2-000000000000', '3-000000000000'].map(
  (name) => `00000${name}-000000000009.ndjson`,
)

test('a run that was interrupted before it published writes its list again', async () => {
  const { publish, lists, textOf } = openOutput('A')
  await publish(1, 'first')
  await publish(1, 'again')
  expect([lists(), textOf(ONE ?? '')]).toEqual([[ONE], 'again'])
  await publish(2, 'another run', 5)
  expect([lists(), textOf(LATER ?? '')]).toEqual([[LATER], 'another run'])
})

test('a list of published files is kept, even if the record of it is lost', async () => {
  const { output, publish, replace, lists, textOf } = openOutput('A')
  await publish(1, 'first')
  replace('B')
  rmSync(join(output, '.walletlake', 'changes.json'))
  await publish(1, 'second')
  expect([lists(), textOf(ONE ?? '')]).toEqual([[ONE, TWO], 'first'])
})

test('numbers continue those of lists that exist only in the object store', async () => {
  const { publish, lists, store } = openOutput('A')
  store.pathsBelow = async () => [`changes/${TWO}`]
  await publish(1, 'third')
  expect(lists()).toEqual([THREE])
})

test('a resumed run recovers its list once its files are published', async () => {
  const { output, publish, replace, lists, store } = openOutput('A')
  const listed = await publish(1, 'first')
  expect(listed).toMatchObject({ file: `changes/${ONE}`, removed: { ledger: 1 } })
  replace('B')
  expect(await recoverChanges({ store, run: 1 })).toEqual(listed)
  expect(await recoverChanges({ store, run: 2 })).toBe(undefined)
  rmSync(join(output, 'manifest.json'))
  expect(await recoverChanges({ store, run: 1 })).toEqual(listed)
  expect(lists()).toEqual([ONE])
})

test('a list of unpublished changes is removed by the next run', async () => {
  const { output, publish, replace, lists, store } = openOutput('A')
  await publish(1, 'first')
  expect(await recoverChanges({ store, run: 2 })).toBe(undefined)
  expect([lists(), readdirSync(output).sort()]).toEqual([[], ['.walletlake', 'manifest.json']])
  await publish(3, 'true')
  replace('B')
  await discardChanges(store)
  expect([lists(), readdirSync(join(output, '.walletlake'))]).toEqual([[ONE], []])
})

test.for(['', 'null', '{}', '{"changes":{"file":"../manifest.json"},"manifest":"x"}', '{"changes":7'])(
  'an invalid record is ignored: %s',
  async (text) => {
    const { output, publish, lists, store } = openOutput('A')
    writeFileSync(join(output, '.walletlake', 'changes.json'), text)
    expect(await recoverChanges({ store, run: 1 })).toBe(undefined)
    await publish(1, 'first')
    expect([lists(), existsSync(join(output, 'manifest.json'))]).toEqual([[ONE], true])
  },
)
