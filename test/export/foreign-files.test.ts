import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkForeignFiles } from '../../src/export/foreign-files.ts'
import { run } from '../../src/export/run.ts'
import { testJob } from '../helpers/jobs.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/** Creates a folder with these entries: files by their text, or folders (undefined). */
function folderWith(entries: Readonly<Record<string, string | undefined>>): string {
  const folder = tempFolder()
  for (const [name, text] of Object.entries(entries))
    if (text === undefined) mkdirSync(join(folder, name))
    else writeFileSync(join(folder, name), text)
  return folder
}

const OWN_MANIFEST = '{"manifestVersion":1,"generator":"walletlake 9.9.9"}'
const WALLET = '0xa548f4431ec271b95b8bdf86c85147c3bbbc5a4f'

test.for(['manifest.json', 'rejects.ndjson'])(
  'a run does not replace a %s of another program',
  async (name) => {
    const output = folderWith({ [name]: '{"name":"a web app"}' })
    const { jobs } = await run([testJob({ addresses: [WALLET], output, startBlock: 419 })])
    expect(jobs[0]?.error).toMatchObject({
      code: 'USAGE',
      message: `${join(output, name)} belongs to no export, and would be replaced`,
      fix: expect.stringContaining('--output'),
    })
    expect(readFileSync(join(output, name), 'utf8')).toBe('{"name":"a web app"}')
    expect(readdirSync(output)).toEqual([name])
  },
)

test('a run of another job is not recorded in an export', async () => {
  const output = tempFolder()
  const job = testJob({ addresses: [WALLET], output, startBlock: 419 })
  expect((await run([job])).code).toBeUndefined()
  const reports = readdirSync(join(output, 'runs'))
  const { code } = await run([{ ...job, startBlock: 418 }])
  expect(code).toBe('OUTPUT_CHANGED')
  expect(readdirSync(join(output, 'runs'))).toEqual(reports)
})

test.for([true, false])(
  'a run (fresh: %s) does not replace it in the folder of an export either',
  async (fresh) => {
    const manifest = '{"schemaVersion":2,"name":"a web app"}'
    const output = folderWith({ 'manifest.json': manifest, '.walletlake': undefined, ledger: undefined })
    const { jobs } = await run([testJob({ addresses: [WALLET], output, startBlock: 419 })], { fresh })
    expect(jobs[0]?.error).toMatchObject({
      code: 'USAGE',
      message: `${join(output, 'manifest.json')} belongs to no export, and would be replaced`,
    })
    expect(readFileSync(join(output, 'manifest.json'), 'utf8')).toBe(manifest)
  },
)

test('the first run into a folder with other files says that it leaves them as they are', async () => {
  const output = folderWith({ 'thesis.txt': 'mine', 'zeta.txt': '' })
  const runOnce = async () => {
    const notices: string[] = []
    const onNotice = (notice: string) => notices.push(notice)
    await run([testJob({ addresses: [WALLET], output, startBlock: 419 })], { onNotice })
    return notices.filter((notice) => notice.includes('other files'))
  }
  expect(await runOnce()).toEqual([
    `test: ${output} contains other files, such as thesis.txt: they are left as they are`,
  ])
  expect(readFileSync(join(output, 'thesis.txt'), 'utf8')).toBe('mine')
  expect(await runOnce()).toEqual([])
})

test.for([
  { what: 'an empty folder', entries: {} },
  { what: 'a folder with hidden files only', entries: { '.gitignore': '*' } },
  { what: 'an export', entries: { 'manifest.json': OWN_MANIFEST, ledger: undefined } },
  { what: 'an export of a later version', entries: { 'manifest.json': OWN_MANIFEST } },
  { what: 'an export whose manifest is damaged', entries: { 'manifest.json': '{"sch', runs: undefined } },
])('nothing is said about $what', async ({ entries }) => {
  expect(await checkForeignFiles(folderWith(entries))).toBeUndefined()
})

test.for(['ledger', 'runs/2026'])('a run does not write to %s of another export', async (name) => {
  const output = folderWith({ 'manifest.json': OWN_MANIFEST })
  await expect(checkForeignFiles(join(output, name))).rejects.toMatchObject({
    code: 'USAGE',
    message: `${join(output, name)} is part of the export ${output}`,
    fix: expect.stringContaining('--output'),
  })
  expect(await checkForeignFiles(join(output, 'other/ledger'))).toBeUndefined()
})

test('nothing is said about a folder that does not exist', async () => {
  expect(await checkForeignFiles(join(tempFolder(), 'new'))).toBeUndefined()
})
