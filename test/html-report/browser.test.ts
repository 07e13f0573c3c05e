// @module-tag long

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shiftDecimal } from '../../src/core/platform/decimal.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { listen } from '../../src/demo-server/listen.ts'
import { run } from '../../src/export/run.ts'
import { report } from '../../src/html-report/report.ts'
import { balances } from '../../src/ledger/balances/balances.ts'
import { GOLDEN_CHAIN, WALLETS } from '../accounting/golden-chain.ts'
import { exportDemo, genesisCsv } from '../helpers/demo-export.ts'
import { testJob } from '../helpers/jobs.ts'
import { writePrices } from '../helpers/prices.ts'
import { CHROMIUM, isMissing } from '../helpers/programs.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { HOSTILE_TEXTS } from '../helpers/untrusted-text.ts'
import { exportWithMissingBlocks } from './missing-blocks.ts'

const folder = suiteFolder()
const SINGLE = ['demo', 'mainnet', 'empty', 'hostile', 'rejects', 'blocks'] as const
const EXPORTS = [...SINGLE, 'two', 'incomplete', 'priced'] as const
const fileOf = (name: string) => join(folder, name, 'report.html')
let browser: Browser

beforeAll(async () => {
  if (isMissing('Chromium')) return
  await exportDemo(join(folder, 'demo'))
  const mainnet = { chain: '1', startBlock: 17_173_049, endBlock: 17_173_051, nativeSymbol: 'ETH' }
  const addresses = [
    '0x6b75d8af000000e20b7a7ddf000ba900b4009a80',
    '0xae2fc483527b8ef99eb5d9b44875f005ba1fae13',
  ]
  await exportComplete(testJob({ addresses, ...mainnet, output: join(folder, 'mainnet') }))
  await exportComplete(testJob({ addresses: [`0x${'9'.repeat(40)}`], output: join(folder, 'empty') }))
  await exportSynthetic(join(folder, 'hostile'), hostileChain())
  await exportSynthetic(join(folder, 'rejects'), chainWithInvalidAmount())
  await exportWithMissingBlocks(join(folder, 'blocks'))
  for (const name of ['two', 'incomplete', 'priced']) mkdirSync(join(folder, name))
  await report([join(folder, 'demo'), join(folder, 'mainnet')], { out: fileOf('two') })
  await report([join(folder, 'rejects'), join(folder, 'blocks')], { out: fileOf('incomplete') })
  const prices = await writePrices(join(folder, 'demo'), join(folder, 'prices.csv'))
  const opening = join(folder, 'opening.csv')
  writeFileSync(opening, genesisCsv())
  await report([join(folder, 'demo')], { out: fileOf('priced'), prices, opening })
  for (const name of SINGLE) await report([join(folder, name)])
  // Without a GPU, its emulation takes a third of the time to open a page.
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
})

afterAll(() => browser?.close())

/** The synthetic chain with malicious names, symbols and method names. */
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

/** The synthetic chain with an amount that is not a number. */
function chainWithInvalidAmount(): typeof GOLDEN_CHAIN {
  const corrupt = (key: string, value: unknown) => (key === 'value' && value === '500000000' ? 'lots' : value)
  return JSON.parse(JSON.stringify(GOLDEN_CHAIN), corrupt) as typeof GOLDEN_CHAIN
}

async function exportSynthetic(output: string, chain: typeof GOLDEN_CHAIN): Promise<void> {
  const server = await listen(createDataService({ chains: { made: chain } }))
  const service = { baseUrl: server.url, apiKeyHeader: 'x-service-api-key', timeoutMs: 120_000 }
  const job = testJob({ addresses: [], chain: 'made', endBlock: 200, output, service })
  await run([{ ...job, wallets: [{ address: WALLETS[0]?.address ?? '', label: '<b>"&\u202e' }] }])
  await server.close()
}

async function exportComplete(job: Parameters<typeof run>[0][number]): Promise<void> {
  expect((await run([job])).code).toBeUndefined()
}

type OpenPage = { page: Page; requests: string[]; errors: string[] }

const opened = new Map<string, Promise<OpenPage>>()

/** The page of an export that all tests share that change nothing but its width and its colors. */
async function shared(name: string, { width = 1280, dark = false } = {}): Promise<OpenPage> {
  const opening = opened.get(name) ?? open(name)
  opened.set(name, opening)
  const { page } = await opening
  await page.setViewportSize({ width, height: 900 })
  await page.emulateMedia({ media: 'screen', colorScheme: dark ? 'dark' : 'light' })
  return opening
}

/** Opens a page and records its requests, console errors, exceptions and dialogs. */
async function open(name: string): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  const page = await context.newPage()
  const result: OpenPage = { page, requests: [], errors: [] }
  const own = pathToFileURL(fileOf(name)).href
  page.on('request', (request) => request.url() !== own && result.requests.push(request.url()))
  page.on('console', (message) => message.type() === 'error' && result.errors.push(message.text()))
  page.on('pageerror', (error) => result.errors.push(error.message))
  page.on('dialog', (dialog) => {
    result.errors.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.goto(own)
  await ready(page)
  return result
}

/** Waits until the row list, if there is one, shows its number of rows. */
async function ready(page: Page): Promise<void> {
  if ((await page.locator('output').count()) === 0) return
  await expect.poll(() => page.locator('output').first().textContent()).toMatch(/rows$/)
}

describe.skipIf(isMissing('Chromium'))('a report in a browser', () => {
  test.for(EXPORTS)('of the export %s makes no requests and logs no errors', async (name) => {
    for (const dark of [false, true]) {
      const { requests, errors } = await shared(name, { dark })
      expect({ requests, errors }).toEqual({ requests: [], errors: [] })
    }
  })

  // The others show the same parts: demo those of mainnet and priced, and two those of incomplete.
  test.for(EXPORTS.filter((name) => name !== 'demo' && name !== 'two'))(
    'of the export %s has no accessibility violations, light or dark, wide or narrow',
    async (name) => {
      for (const dark of [false, true]) {
        const { page } = await shared(name, { dark, width: dark ? 360 : 1280 })
        if (!dark) await page.evaluate(axe.source)
        const violations = await page.evaluate(async () => {
          const { axe: checker } = globalThis as unknown as {
            axe: { run(): Promise<{ violations: Violation[] }> }
          }
          type Violation = { id: string; nodes: { html: string }[] }
          const { violations: found } = await checker.run()
          return found.map(({ id, nodes }) => [id, nodes[0]?.html.slice(0, 200)])
        })
        expect({ dark, violations }).toEqual({ dark, violations: [] })
      }
    },
  )

  test.for(EXPORTS)('of the export %s fits a phone without horizontal scrolling', async (name) => {
    const { page } = await shared(name, { width: 360 })
    const widths = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')
    expect(widths).toEqual([360, 360])
  })

  test.for([
    ['demo', 1280],
    ['priced', 1280],
    ['priced', 1920],
  ] as const)('of the export %s hides no column at a width of %i pixels', async ([name, width]) => {
    const { page } = await open(name)
    await page.setViewportSize({ width, height: 900 })
    const cut = await page.evaluate(`(() => {
      for (const one of document.querySelectorAll('details')) one.open = true
      const tables = [...document.querySelectorAll('.scroll')]
      return tables.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel)
    })()`)
    expect(cut).toEqual([])
    await page.context().close()
  })

  test('shows 40 rows of a long table, says so, and shows all of them on request', async () => {
    const { page } = await open('demo')
    const long = page.locator('#wallets .long').first()
    const rows = long.locator('tbody tr:visible')
    const text = () => long.locator('.shown span:visible').textContent()
    expect([await rows.count(), await text()]).toEqual([40, '40 of 53 wallets shown'])
    await long.getByRole('checkbox').check()
    expect([await rows.count(), await text()]).toEqual([53, 'All 53 wallets shown'])
    await page.context().close()
  })

  test('shows the suspicious tokens that the figures at the top leave out on a click', async () => {
    const { page } = await open('priced')
    const table = page.locator('#suspicious table')
    expect(await table.isVisible()).toBe(false)
    await page.locator('.tiles a[href="#suspicious"]').first().click()
    await expect.poll(() => table.isVisible()).toBe(true)
    await page.context().close()
  })

  test('states in its header whether the export is complete, and what was rejected', async () => {
    const stamps = []
    for (const name of ['demo', 'rejects', 'blocks', 'incomplete']) {
      const { page } = await shared(name)
      stamps.push((await page.locator('.stamp').allTextContents()).join('\n'))
    }
    expect(stamps[0]).toBe('✓ Complete: every page was read, no record was rejected')
    expect(stamps[1]).toMatch(/^! 1 record rejected: /)
    expect(stamps[2]).toBe('! 20 blocks missing from the service')
    expect(stamps[3]).toBe(`${stamps[1]}\n${stamps[2]}`)
  })

  test.for(['demo', 'priced'])(
    'of the export %s prints dark on white, with nothing cut off on A4',
    async (name) => {
      // A4 landscape minus margins of 12 mm, at 96 pixels per inch.
      const { page } = await shared(name, { width: 1031, dark: true })
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
    },
  )

  test('prints a title above every chart and table, and the headers of a table on each page', async () => {
    const { page } = await shared('demo')
    await page.emulateMedia({ media: 'print' })
    const summaries = page.locator('#balances details:not(.as-table) > summary')
    expect(await summaries.count()).toBeGreaterThan(1)
    for (const summary of await summaries.all()) expect(await summary.isVisible()).toBe(true)
    // Print cannot show more, and opens details.
    expect(await page.getByText(/show \d+ more/).count()).toBeGreaterThan(1)
    for (const one of await page.getByText(/show \d+ more/).all()) expect(await one.isVisible()).toBe(false)
    // Chromium repeats the headers of a table on each page, but not the contents of boxes of their own in them.
    const buttons = await page.evaluate(
      `[...document.querySelectorAll('thead button')].map((one) => getComputedStyle(one).display)`,
    )
    expect([...new Set(buttons as string[])]).toEqual(['contents'])
  })

  test('compares two dates with exact balances, opening balances included', async () => {
    const { page } = await open('priced')
    const rows = () => page.locator('.compare tbody tr').allTextContents()
    const opening = join(folder, 'opening.csv')
    const coins = (await balances(join(folder, 'demo'), { all: true, opening })).balances.filter(
      ({ asset_type }) => asset_type === 'native',
    )
    const whole = coins.map(({ amount }) => (amount ?? '').replace('-', '−'))
    const textsOf = async (part: string) =>
      (await page.locator(`.compare ${part} td:nth-child(3)`).allTextContents()).map((text) =>
        text.replaceAll('\u202f', ''),
      )
    expect((await textsOf('tbody')).sort()).toEqual(whole.sort())
    const total = coins.reduce((sum, { value }) => sum + value, 0n)
    expect(await textsOf('tfoot')).toEqual([shiftDecimal(String(total), 18)])
    const before = await rows()
    await page.locator('.compare select[data-pick=to]').selectOption('0')
    const changes = await page.locator('.compare tbody td:nth-child(4)').allTextContents()
    expect([...new Set(changes)]).toEqual(['0'])
    await page.locator('.compare select[data-pick=asset]').selectOption('1')
    expect(await rows()).not.toEqual(before)
    await page.context().close()
  })

  test('filters rows while the user types, moves by keys, and sorts tables', async () => {
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
    const numbers = cells.map((text) => Number(text.replaceAll('\u202f', '').replace('–', '0')))
    expect(numbers).toEqual([...numbers].sort((a, b) => b - a))
    await page.context().close()
  })

  test.for(['demo', 'two'])('of the export %s has a name and a table for every chart', async (name) => {
    const { page } = await shared(name)
    const pictures = (await accessibilityTree(page)).filter(({ role }) => /^(image|img)$/.test(role))
    expect(pictures.length).toBeGreaterThan(100)
    expect(pictures.filter(({ name }) => name.length < 10)).toEqual([])
    const bare = await page.evaluate(
      `[...document.querySelectorAll('svg[role=img]')].filter((one) => one.closest('section').querySelector('table') === null).length`,
    )
    expect(bare).toBe(0)
  })

  test('announces the number of rows and the current row to screen readers', async () => {
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
      'time',
      'wallet label',
      'wallet',
      'kind',
      'way',
      'amount',
      'asset',
      'counterparty label',
      'counterparty',
      'transaction',
    ])
    expect(tree.filter(({ role }) => role === 'status').length).toBeGreaterThan(0)
    await list.evaluate((one) => one.scrollTo(0, 50_000))
    await expect.poll(() => list.getAttribute('aria-activedescendant')).toBeNull()
    await page.context().close()
  })
})

type AccessibleNode = { role: string; name: string; focused: boolean }

/** The accessibility tree that Chromium gives to screen readers. */
async function accessibilityTree(page: Page): Promise<AccessibleNode[]> {
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
