import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { run } from '../../src/export/run.ts'
import { report } from '../../src/html-report/report.ts'
import { chainBlocks } from '../helpers/blocks-run.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { blocksJob } from '../helpers/jobs.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { exportWithMissingBlocks } from './missing-blocks.ts'
import { tableOf, textOf } from './read-page.ts'

const folder = suiteFolder()
const [blocks, bare, demo] = ['blocks', 'bare', 'demo'].map((name) => join(folder, name)) as [
  string,
  string,
  string,
]
const pages = { blocks: '', bare: '' }

/** The expected figures of blocks 380 to 400, the newest that the server has, from its data files. */
const transactions = chainBlocks.slice(380, 401).flatMap((block) => block.transactions)
const costs = transactions.map((one) => ({
  sender: String(one.from.address).toLowerCase(),
  failed: String(one.txStatus) !== '1',
  fee: BigInt(one.gasUsed ?? 0) * BigInt(one.gasPrice ?? 0),
}))
const sum = (fees: typeof costs) => fees.reduce((all, { fee }) => all + fee, 0n)
const coins = (value: bigint) =>
  `${value / 10n ** 18n}.${String(value % 10n ** 18n)
    .padStart(18, '0')
    .replace(/0+$/, '')}`

beforeAll(async () => {
  await exportWithMissingBlocks(blocks)
  await exportDemo(bare, { endBlock: 30, tables: ['transactions', 'erc20_transfers'] })
  await exportDemo(demo, { endBlock: 20 })
  for (const name of ['blocks', 'bare'] as const)
    pages[name] = readFileSync((await report([join(folder, name)])).file, 'utf8')
})

/** The caption that starts with these words: it contains the name of the job. */
const captionOf = (page: string, start: string) =>
  new RegExp(`<caption><span>(${start}[^<]*)<`).exec(page)?.[1] ?? ''

describe('a report of an export without a ledger', () => {
  test('states in its head how many blocks are missing, and lists them below', () => {
    const text = textOf(pages.blocks)
    expect(text).toContain('! Incomplete 20 blocks are missing')
    expect(text).toContain('Avalanche C-Chain, blocks 380 to 420')
    expect(text).toContain('Blocks that the service did not have: 401–420.')
    expect(text).toContain('Missing blocks may contain transactions')
    expect(text).toContain('21 of 41 blocks were read.')
  })

  test("shows the counts and fees of the chain's data files", () => {
    const failed = costs.filter((one) => one.failed)
    expect(failed.length).toBeGreaterThan(0)
    expect(textOf(pages.blocks)).toContain(
      `${costs.length} transactions, of which ${failed.length} failed, cost their senders`,
    )
    expect(pages.blocks).toContain(`title="${coins(sum(costs))}"`)
  })

  test('lists the senders with the most transactions, with exact fees', () => {
    const rows = tableOf(pages.blocks, captionOf(pages.blocks, 'Senders of')).map((cells) => cells.slice(1))
    const senders = new Map<string, typeof costs>()
    for (const one of costs) senders.set(one.sender, [...(senders.get(one.sender) ?? []), one])
    const expected = [...senders.values()].map((all) => [
      String(all.length),
      String(all.filter((one) => one.failed).length),
      coins(sum(all)),
    ])
    expect(rows.sort()).toEqual(expected.sort())
  })

  test('of a wallet job shows its tables, and states why there is no more', () => {
    const text = textOf(pages.bare)
    expect(text).toContain('✓ Complete every page was read')
    expect(text).toContain('An export without a ledger has no balances')
    expect(tableOf(pages.bare, captionOf(pages.bare, 'Tables of')).map(([name]) => name)).toEqual([
      'transactions',
      'erc20_transfers',
    ])
    expect(pages.bare).not.toMatch(/id="(balances|worth|holdings|parties)"|data-activity=/)
  })

  test('works without any transactions, and without a transactions table', async () => {
    const [none, tokens] = [join(folder, 'none'), join(folder, 'tokens')]
    await run([blocksJob({ startBlock: 0, endBlock: 1, output: none })])
    await exportDemo(tokens, { endBlock: 5, tables: ['erc20_transfers'] })
    const text = async (output: string) => textOf(readFileSync((await report([output])).file, 'utf8'))
    expect(await text(none)).toContain('These blocks contain no transactions.')
    expect(await text(tokens)).toContain('no transactions')
  })

  test('shares a page with an export that has a ledger', async () => {
    mkdirSync(join(folder, 'both'))
    const { file } = await report([demo, blocks], { out: join(folder, 'both', 'both.html') })
    const page = readFileSync(file, 'utf8')
    expect(textOf(page)).toContain(`${costs.length} transactions, of which`)
    expect(page).toContain('<section id="worth">')
    expect(page.match(/<h1>/g)).toHaveLength(1)
    expect(page.match(/The purpose of a payment/g)).toHaveLength(1)
  })

  test("shows the user's labels of senders, and rejects prices, which require a ledger", async () => {
    const [names, out] = [join(folder, 'names.csv'), join(folder, 'named.html')]
    writeFileSync(names, `address,name\n${costs[0]?.sender},Sender <one>\n`)
    await report([blocks], { names, out })
    expect(readFileSync(out, 'utf8')).toContain('Sender &lt;one&gt;')
    await expect(report([blocks], { prices: names, out })).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(
        'has no ledger, which opening balances, adjustments and prices require',
      ),
    })
  })
})
