import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as source from '../../src/index.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const textOf = (...path: string[]) => readFileSync(join(ROOT, ...path), 'utf8')

test("an import of 'walletlake' has the exports of index.ts", () => {
  const print = "console.log(JSON.stringify(Object.keys(await import('walletlake'))))"
  const names = execFileSync(process.execPath, ['--input-type=module', '-e', print], { cwd: ROOT })
  expect(JSON.parse(names.toString())).toEqual(Object.keys(source).sort())
  expect(Object.keys(source)).toEqual(expect.arrayContaining(['ExportError', 'createServiceClient']))
})

const CONSUMER = `
import { createServiceClient, ExportError, type Webhook, type WalletTransaction } from 'walletlake'
const client = createServiceClient({ baseUrl: 'http://127.0.0.1', apiKey: process.env['KEY'] })
export async function read(): Promise<WalletTransaction[]> {
  const all: WalletTransaction[] = []
  for await (const page of client.listWalletTransactions({ chainId: 1, address: '0x' })) all.push(...page.transactions)
  const value: string | number | null | undefined = all[0]?.erc20Transfers?.[0]?.value
  // @ts-expect-error a field's name is exact
  all[0]?.nativeTransaction?.txhash
  // @ts-expect-error a field may be absent
  all[0]?.nativeTransaction.txHash
  return value === '0' ? [] : all
}
export const isOn = ({ status }: Webhook) => status === 'active' || status === 'a status of tomorrow'
export const isGone = (thrown: unknown) => thrown instanceof ExportError && thrown.status === 404
`

test('a strict TypeScript program compiles against the type declarations', { tags: ['long'] }, () => {
  const folder = tempFolder()
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(ROOT, join(folder, 'node_modules', 'walletlake'))
  writeFileSync(join(folder, 'consumer.ts'), CONSUMER)
  const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext']
  const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules', '@types')]
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  const compile = () =>
    execFileSync(process.execPath, [tsc, ...options, ...types, 'consumer.ts'], { cwd: folder }).toString()
  expect(compile()).toBe('')
})

/** Every exported name and the file that declares it, from the lists in index.ts. */
const exported = [...textOf('src/index.ts').matchAll(/export (?:type )?\{([^}]*)\} from '([^']+)'/g)].flatMap(
  ([, names = '', file = '']) =>
    names
      .split(',')
      .map((name) => name.trim().replace(/^type /, ''))
      .filter((name) => name !== '')
      .map((name) => ({ name, file: join('src', file) })),
)

describe('public docstrings', () => {
  test('index.ts exports more than fifty documented names', () => {
    expect(exported.length).toBeGreaterThan(50)
  })

  test.for(exported)('$name has a docstring', ({ name, file }) => {
    const declared = new RegExp(
      String.raw`\*/\nexport (type|class|const|function|async function\*?) ${name}\b`,
    )
    expect(declared.test(textOf(file))).toBe(true)
  })

  test('the docstring of every operation names its section of the interface', async () => {
    const client = source.createServiceClient({ baseUrl: 'http://127.0.0.1' })
    await client.close()
    const operations = join(ROOT, 'src/sources/data-api/operations')
    const members = readdirSync(operations).flatMap((file) =>
      membersOf(textOf('src/sources/data-api/operations', file)),
    )
    expect(['close', ...members.map(({ name }) => name)].sort()).toEqual(Object.keys(client).sort())
    const undocumented = members.filter(({ doc }) => !/section|beyond the interface/i.test(doc))
    expect(undocumented).toEqual([])
  })
})

/** The methods of a file's `…Operations` types, with their docstrings. */
function membersOf(text: string): { name: string; doc: string }[] {
  const types = [...text.matchAll(/type \w+Operations = \{\n([\s\S]*?)\n\}/g)].map(([, type = '']) => type)
  const members = types.flatMap((type) => [
    ...type.matchAll(/(?:( {2}\/\*\*(?:(?!\*\/)[\s\S])*\*\/)\n)?^ {2}(\w+)\(/gm),
  ])
  return members.map(([, doc = '', name = '']) => ({ name, doc }))
}
