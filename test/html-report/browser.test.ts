import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { listen } from '../../src/demo-server/listen.ts'
import { run } from '../../src/export/run.ts'
import { report } from '../../src/html-report/report.ts'
import { balances } from '../../src/ledger/balances/balances.ts'
import { GOLDEN_CHAIN, WALLETS } from '../accounting/golden-chain.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { testJob } from '../helpers/jobs.ts'
import { exportWithMissingBlocks } from '../helpers/missing-blocks.ts'
import { writePrices } from '../helpers/prices.ts'
import { CHROMIUM, isMissing } from '../helpers/programs.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { HOSTILE_TEXTS } from '../helpers/untrusted-text.ts'

const folder = suiteFolder()
const SINGLE = ['demo', 'mainnet', 'empty', 'hostile', 'rejects', 'blocks'] as const
const WORLDS = [...SINGLE, 'two', 'lacking', 'priced'] as const
const fileOf = (world: string) => join(folder, world, 'report.html')
let browser: Browser

beforeAll(async () => {
  if (isMissing('Chromium')) return
  await exportDemo(join(folder, 'demo'))
  const mainnet = { chain: '1', startBlock: 17_173_049, endBlock: 17_173_051, nativeSymbol: 'ETH' }
  const addresses = [
    '0x6b75d8af000000e20b7a7ddf000ba900b4009a80',
    '0xae2fc483527b8ef99eb5d9b44875f005ba1fae13',
  ]
  await exported(testJob({ addresses, ...mainnet, output: join(folder, 'mainnet') }))
  await exported(testJob({ addresses: [`0x${'9'.repeat(40)}`], output: join(folder, 'empty') }))
  await exportMadeUp(join(folder, 'hostile'), hostileChain())
  await exportMadeUp(join(folder, 'rejects'), spoiltChain())
  await exportWithMissingBlocks(join(folder, 'blocks'))
  for (const several of ['two', 'lacking', 'priced']) mkdirSync(join(folder, several))
  await report([join(folder, 'demo'), join(folder, 'mainnet')], { out: fileOf('two') })
  await report([join(folder, 'rejects'), join(folder, 'blocks')], { out: fileOf('lacking') })
  const prices = await writePrices(join(folder, 'demo'), join(folder, 'prices.csv'))
  await report([join(folder, 'demo')], { out: fileOf('priced'), prices })
  for (const world of SINGLE) await report([join(folder, world)])
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
})

afterAll(() => browser?.close())

/** The made-up chain with the worst names that strangers can think of. */
function hostileChain(): typeof GOLDEN_CHAIN {
  const texts = [...HOSTILE_TEXTS, '<img src=x onerror=alert(1)>', '</script><script>alert(1)</script>']
  let at = 0
  const poison = (key: string, value: unknown) => {
    if (!/^(name|symbol|methodName)$/.test(key)) return value
    at += 1
    return texts[at % texts.length]
  }
  return JSON.parse(JSON.stringify(GOLDEN_CHAIN), poison) as typeof GOLDEN_CHAIN
}

/** The made-up chain with amounts that are none. */
function spoiltChain(): typeof GOLDEN_CHAIN {
  const spoil = (key: string, value: unknown) => (key === 'value' && value === '500000000' ? 'lots' : value)
  return JSON.parse(JSON.stringify(GOLDEN_CHAIN), spoil) as typeof GOLDEN_CHAIN
}

async function exportMadeUp(output: string, chain: typeof GOLDEN_CHAIN): Promise<void> {
  const made = await listen(createDataService({ chains: { made: chain } }))
  const service = { baseUrl: made.url, apiKeyHeader: 'x-service-api-key', timeoutMs: 30_000 }
  const job = testJob({ addresses: [], chain: 'made', endBlock: 200, output, service })
  await run([{ ...job, wallets: [{ address: WALLETS[0]?.address ?? '', label: '<b>"&\u202e' }] }])
  await made.close()
}

async function exported(job: Parameters<typeof run>[0][number]): Promise<void> {
  expect((await run([job])).code).toBeUndefined()
}

type Seen = { page: Page; requests: string[]; complaints: string[] }

/** Opens a page, and hears all that it asks for and complains of. */
async function open(world: string, options: { width?: number; dark?: boolean } = {}): Promise<Seen> {
  const { width = 1280, dark = false } = options
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: dark ? 'dark' : 'light',
  })
  const page = await context.newPage()
  const seen: Seen = { page, requests: [], complaints: [] }
  const own = pathToFileURL(fileOf(world)).href
  page.on('request', (request) => request.url() !== own && seen.requests.push(request.url()))
  page.on('console', (message) => message.type() === 'error' && seen.complaints.push(message.text()))
  page.on('pageerror', (error) => seen.complaints.push(error.message))
  page.on('dialog', (dialog) => {
    seen.complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.goto(own)
  await ready(page)
  return seen
}

/** The list of rows, where there is one, says how many it has. */
async function ready(page: Page): Promise<void> {
  if ((await page.locator('output').count()) === 0) return
  await expect.poll(() => page.locator('output').first().textContent()).toMatch(/rows$/)
}

describe.skipIf(isMissing('Chromium'))('a report in a browser', () => {
  test.for(WORLDS)('of the export %s asks nobody for anything and complains of nothing', async (world) => {
    for (const dark of [false, true]) {
      const { page, requests, complaints } = await open(world, { dark })
      expect({ requests, complaints }).toEqual({ requests: [], complaints: [] })
      await page.context().close()
    }
  })

  test.for(WORLDS)(
    'of the export %s has no fault that axe finds, light or dark, wide or narrow',
    async (world) => {
      for (const dark of [false, true]) {
        const { page } = await open(world, { dark, width: dark ? 360 : 1280 })
        await page.evaluate(axe.source)
        const violations = await page.evaluate(async () => {
          const { axe: looker } = globalThis as unknown as {
            axe: { run(): Promise<{ violations: Violation[] }> }
          }
          type Violation = { id: string; nodes: { html: string }[] }
          const { violations: found } = await looker.run()
          return found.map(({ id, nodes }) => [id, nodes[0]?.html.slice(0, 200)])
        })
        expect({ dark, violations }).toEqual({ dark, violations: [] })
        await page.context().close()
      }
    },
  )

  test.for(WORLDS)('of the export %s fits a phone without scrolling sideways', async (world) => {
    const { page } = await open(world, { width: 360 })
    const widths = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')
    expect(widths).toEqual([360, 360])
    await page.context().close()
  })

  test('says first whether the export is complete, and what was rejected', async () => {
    const stamps = []
    for (const world of ['demo', 'rejects', 'blocks', 'lacking']) {
      const { page } = await open(world)
      stamps.push((await page.locator('.stamp').allTextContents()).join('\n'))
      await page.context().close()
    }
    expect(stamps[0]).toBe('✓ Complete: every page was read, no record was rejected')
    expect(stamps[1]).toMatch(/^! 1 record could not be read: /)
    expect(stamps[2]).toBe('! 20 blocks could not be had from the service')
    expect(stamps[3]).toBe(`${stamps[1]}\n${stamps[2]}`)
  })

  test.for(['demo', 'priced'])(
    'of the export %s is printed dark on white, nothing cut on A4',
    async (world) => {
      // A4 across, less margins of 12 mm, at 96 dots an inch.
      const { page } = await open(world, { width: 1031, dark: true })
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
      const found = await page.evaluate(`(() => {
      const { color, backgroundColor } = getComputedStyle(document.body)
      const cut = [...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth)
      return { color, backgroundColor, wide: document.documentElement.scrollWidth, cut: cut.length }
    })()`)
      expect(found).toEqual({
        color: 'rgb(27, 31, 36)',
        backgroundColor: 'rgb(255, 255, 255)',
        wide: 1031,
        cut: 0,
      })
      await page.context().close()
    },
  )

  test('is printed with a title over every picture and table', async () => {
    const { page } = await open('demo')
    await page.emulateMedia({ media: 'print' })
    const summaries = page.locator('#balances details:not(.as-table) > summary')
    expect(await summaries.count()).toBeGreaterThan(1)
    for (const summary of await summaries.all()) expect(await summary.isVisible()).toBe(true)
    await page.context().close()
  })

  test('compares two dates, to the last digit', async () => {
    const { page } = await open('demo')
    const rows = () => page.locator('.compare tbody tr').allTextContents()
    const whole = (await balances(join(folder, 'demo'), { all: true })).balances
      .filter(({ asset_type }) => asset_type === 'native')
      .map(({ amount }) => (amount ?? '').replace('-', '−'))
    const later = await page.locator('.compare tbody td:nth-child(3)').allTextContents()
    expect(later.map((text) => text.replaceAll('\u2009', '')).sort()).toEqual(whole.sort())
    const before = await rows()
    await page.locator('.compare select[data-pick=to]').selectOption('0')
    const changes = await page.locator('.compare tbody td:nth-child(4)').allTextContents()
    expect([...new Set(changes)]).toEqual(['0'])
    await page.locator('.compare select[data-pick=asset]').selectOption('1')
    expect(await rows()).not.toEqual(before)
    await page.context().close()
  })

  test('finds rows as one types, moves by keys, and sorts tables', async () => {
    const { page } = await open('demo')
    await page.locator('input[type=search]').fill('burn')
    await expect.poll(() => page.locator('output').textContent()).toMatch(/^\d+ rows$/)
    const kinds = () => page.locator('.space .row span:nth-child(4)').allTextContents()
    expect((await kinds()).length).toBeGreaterThan(3)
    await page.locator('input[type=search]').fill('fee')
    await expect.poll(async () => [...new Set(await kinds())]).toEqual(['fee'])
    await page.locator('input[type=search]').fill('')
    await page.locator('.list').focus()
    await page.keyboard.press('End')
    await expect
      .poll(() => page.locator('.space .row.current').getAttribute('aria-rowindex'))
      .toBe(String(Number(await page.locator('.list').getAttribute('aria-rowcount'))))
    const movements = page.locator('#wallets table').first()
    await movements.locator('thead button', { hasText: 'movements' }).click()
    const cells = await movements.locator('tbody tr td:nth-child(5)').allTextContents()
    const numbers = cells.map((text) => Number(text.replaceAll('\u2009', '').replace('–', '0')))
    expect(numbers).toEqual([...numbers].sort((a, b) => b - a))
    await page.context().close()
  })

  test.for(['demo', 'two'])('of the export %s has a name and a table for every picture', async (world) => {
    const { page } = await open(world)
    const pictures = (await accessibilityTree(page)).filter(({ role }) => /^(image|img)$/.test(role))
    expect(pictures.length).toBeGreaterThan(100)
    expect(pictures.filter(({ name }) => name.length < 10)).toEqual([])
    const bare = await page.evaluate(
      `[...document.querySelectorAll('svg[role=img]')].filter((one) => one.closest('section').querySelector('table') === null).length`,
    )
    expect(bare).toBe(0)
    await page.context().close()
  })

  test('tells a screen reader how many rows there are, and which one the keys are at', async () => {
    const { page } = await open('demo')
    const list = page.getByRole('grid', { name: 'Rows' })
    await list.focus()
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp']) await page.keyboard.press(key)
    const at = await list.getAttribute('aria-activedescendant')
    const current = page.locator(`[id="${at}"]`)
    expect(await current.getAttribute('aria-rowindex')).toBe('3')
    expect(await current.getByRole('gridcell').count()).toBe(10)
    const tree = await accessibilityTree(page)
    expect(tree.filter(({ role }) => role === 'grid')).toEqual([
      { role: 'grid', name: 'Rows', focused: true },
    ])
    expect(await list.getByRole('columnheader').allTextContents()).toEqual([
      ...['time', 'wallet label', 'wallet', 'kind', 'way', 'amount', 'asset'],
      ...['counterparty label', 'counterparty', 'transaction'],
    ])
    expect(tree.filter(({ role }) => role === 'status').length).toBeGreaterThan(0)
    await list.evaluate((one) => one.scrollTo(0, 50_000))
    await expect.poll(() => list.getAttribute('aria-activedescendant')).toBeNull()
    await page.context().close()
  })
})

type Told = { role: string; name: string; focused: boolean }

/** What Chromium tells screen readers. */
async function accessibilityTree(page: Page): Promise<Told[]> {
  const session = await page.context().newCDPSession(page)
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  return nodes
    .filter(({ ignored }) => !ignored)
    .map(({ role, name, properties = [] }) => ({
      role: String(role?.value),
      name: String(name?.value ?? ''),
      focused: properties.some((one) => one.name === 'focused' && one.value.value === true),
    }))
}
