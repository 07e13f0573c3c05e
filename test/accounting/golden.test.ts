import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkFile } from '../../src/accounting/check/check-file.ts'
import { convert } from '../../src/accounting/convert.ts'
import { FORMAT_NAMES } from '../../src/accounting/formats.ts'
import { runCommand } from '../helpers/command.ts'
import { ETHEREUM, exportDemo } from '../helpers/demo-export.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { GOLDEN_CHAIN, GOLDEN_PRICES } from './golden-chain.ts'
import { exportMadeUp } from './made-up-export.ts'

/** Addresses with many transactions in the two mainnet blocks. */
const MAINNET = [
  '0x6b75d8af000000e20b7a7ddf000ba900b4009a80',
  '0xae2fc483527b8ef99eb5d9b44875f005ba1fae13',
  '0xa9d1e08c7793af67e9d92fe308d5697fb81d3e43',
]

const folder = suiteFolder()
const prices = join(folder, 'prices.csv')
const outputs = {
  'made-up': join(folder, 'made-up'),
  demo: join(folder, 'demo'),
  mainnet: join(folder, 'mainnet'),
}

beforeAll(async () => {
  writeFileSync(prices, GOLDEN_PRICES)
  await exportMadeUp(outputs['made-up'], GOLDEN_CHAIN)
})

/** Concatenates all files that a conversion wrote, including the lists next to its output. */
function textOf(out: string): string {
  const isFolder = statSync(out).isDirectory()
  const outputs = isFolder
    ? readdirSync(out)
        .sort()
        .map((name) => join(out, name))
    : [out]
  const placeholders = out.endsWith('-koinly') ? [`${out.slice(0, -'-koinly'.length)}.assets.csv`] : []
  const lists = [`${out}.omitted.csv`, ...placeholders].filter((path) =>
    readdirSync(folder).includes(basename(path)),
  )
  return [...outputs, ...lists]
    .map((path) => `==> ${path.slice(folder.length + 1)}\n${readFileSync(path, 'utf8')}`)
    .join('')
}

async function expectGolden(chain: keyof typeof outputs, to: string): Promise<void> {
  const out = join(folder, `${chain}-${to}`)
  const priced = chain === 'made-up' ? { prices } : to === 'rp2' ? { prices: nativePrices(chain) } : {}
  const { files } = await convert(outputs[chain], { to, out, ...priced })
  await expect(textOf(out)).toMatchFileSnapshot(join('golden', chain, `${to}.txt`))
  const problems: unknown[] = []
  const converted = files.filter((path) => !/\.(omitted|assets)\.csv$/.test(path))
  for (const path of converted) await checkFile(path, to, (problem) => problems.push([path, problem]))
  expect(problems).toEqual([])
}

test.for(FORMAT_NAMES)(
  'a conversion for %s of the made-up chain equals its golden file and passes the check',
  (to) => expectGolden('made-up', to),
)

describe('of chains with recorded transactions', { tags: ['long'] }, () => {
  beforeAll(async () => {
    await exportDemo(outputs.demo, { endBlock: 6 })
    await exportDemo(outputs.mainnet, { ...ETHEREUM, addresses: MAINNET })
  })

  for (const chain of ['demo', 'mainnet'] as const)
    test.for(FORMAT_NAMES)(
      `a conversion for %s of the ${chain} chain equals its golden file and passes the check`,
      (to) => expectGolden(chain, to),
    )
})

function nativePrices(chain: string): string {
  const file = join(folder, `${chain}.csv`)
  writeFileSync(
    file,
    `date,asset,currency,price\n${chain === 'demo' ? '2023-11-14' : '2023-05-02'},native,USD,17.5\n`,
  )
  return file
}

test('excludeSpam changes no other line of explorer files, even after a transaction that contains only spam', async () => {
  const [complete, filtered] = ['complete', 'filtered'].map((name) => join(folder, name)) as [string, string]
  await convert(outputs['made-up'], { to: 'etherscan', out: complete })
  const { omitted } = await convert(outputs['made-up'], { to: 'etherscan', out: filtered, excludeSpam: true })
  expect(Object.keys(omitted).join()).toContain('spam: ')
  for (const name of readdirSync(complete)) {
    const [before, after] = [complete, filtered].map((out) =>
      readFileSync(join(out, name), 'utf8').split('\n'),
    )
    expect(after?.filter((line) => !before?.includes(line))).toEqual([])
    if (name.startsWith('export-0x')) expect(after).toEqual(before)
  }
})

test('stderr accounts for split payments, and names the placeholders with the file that explains them', async () => {
  const map = join(folder, 'explained.assets.csv')
  const files = ['--map', map, '--out', join(folder, 'explained.csv')]
  const { exit, stderr } = await runCommand(['convert', outputs['made-up'], '--to', 'koinly', ...files])
  expect(exit).toBe(0)
  const written = readFileSync(join(folder, 'explained.csv'), 'utf8')
  const names = new Set(written.match(/\b(NULL|NFT)\d+\b/g))
  expect(stderr).toContain(`${names.size} tokens without a ticker are named NULL1 … NULL`)
  expect(stderr).toContain(`: ${map} says what they are. Keep it, so that later files use the same names\n`)
  const parts = new Set(written.match(/entry [0-9a-f]{32}-\d+/g)).size
  expect(stderr).toMatch(new RegExp(`${parts} movements? added: payments through a contract are split into`))
})
