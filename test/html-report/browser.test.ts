// @module-tag long

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { listen } from '../../src/demo-server/listen.ts'
import { run } from '../../src/export/run.ts'
import { report } from '../../src/html-report/report.ts'
import { GOLDEN_CHAIN, WALLETS } from '../accounting/golden-chain.ts'
import { ETHEREUM, exportDemo, genesisCsv } from '../helpers/demo-export.ts'
import { testJob } from '../helpers/jobs.ts'
import { writePrices } from '../helpers/prices.ts'
import { CHROMIUM, isMissing } from '../helpers/programs.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { HOSTILE_TEXTS } from '../helpers/untrusted-text.ts'
import { exportWithMissingBlocks } from './missing-blocks.ts'

const folder = suiteFolder()
const SINGLE = ['demo', 'mainnet', 'empty', 'hostile', 'rejects', 'blocks'] as const
const PAGES = [...SINGLE, 'two', 'priced', 'german'] as const
/** Width, height and colours of the screens, and the width of an A4 page between its margins. */
const SIZES = [
  { name: 'a phone', width: 360, height: 780, media: 'screen', colorScheme: 'light' },
  { name: 'a laptop', width: 1280, height: 900, media: 'screen', colorScheme: 'light' },
  { name: 'a laptop in the dark', width: 1280, height: 900, media: 'screen', colorScheme: 'dark' },
  { name: 'a wide screen', width: 1920, height: 1080, media: 'screen', colorScheme: 'light' },
  { name: 'paper', width: 688, height: 1000, media: 'print', colorScheme: 'dark' },
] as const
const fileOf = (name: string) => join(folder, name, 'report.html')
let browser: Browser

beforeAll(async () => {
  if (isMissing('Chromium')) return
  await exportDemo(join(folder, 'demo'))
  const addresses = [
    '0x6b75d8af000000e20b7a7ddf000ba900b4009a80',
    '0xae2fc483527b8ef99eb5d9b44875f005ba1fae13',
  ]
  await exportDemo(join(folder, 'mainnet'), { ...ETHEREUM, addresses })
  await exportDemo(join(folder, 'empty'), { addresses: [`0x${'9'.repeat(40)}`] })
  await exportSynthetic(join(folder, 'hostile'), hostileChain())
  await exportSynthetic(join(folder, 'rejects'), chainWithInvalidAmount())
  await exportWithMissingBlocks(join(folder, 'blocks'))
  for (const name of SINGLE) await report([join(folder, name)])
  for (const name of ['two', 'priced', 'german']) mkdirSync(join(folder, name))
  await report([join(folder, 'demo'), join(folder, 'mainnet')], { out: fileOf('two') })
  const prices = await writePrices(join(folder, 'demo'), join(folder, 'prices.csv'))
  const opening = join(folder, 'opening.csv')
  writeFileSync(opening, genesisCsv())
  await report([join(folder, 'demo')], { out: fileOf('priced'), prices, opening })
  await report([join(folder, 'demo')], { out: fileOf('german'), prices, opening, language: 'de' })
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
  const service = { baseUrl: server.url }
  const job = testJob({ addresses: [], chain: 'made', endBlock: 200, output, service })
  await run([{ ...job, wallets: [{ address: WALLETS[0]?.address ?? '', label: '<b>"&\u202e' }] }])
  await server.close()
}

type OpenPage = { page: Page; requests: string[]; errors: string[] }

const opened = new Map<string, Promise<OpenPage>>()

/** The page that all tests share that change nothing but its size, its colours and which details are open. */
function shared(name: string): Promise<OpenPage> {
  const opening = opened.get(name) ?? open(name)
  opened.set(name, opening)
  return opening
}

async function show(
  { page }: OpenPage,
  { width, height, media, colorScheme }: (typeof SIZES)[number],
): Promise<void> {
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ media, colorScheme })
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
  const list = page.locator('#activity .days')
  if ((await list.count()) > 0) await expect.poll(() => list.locator('> *').count()).toBeGreaterThan(0)
  return result
}

/** Opens all details, as print does. */
const OPEN_ALL = `dispatchEvent(new Event('beforeprint')); for (const one of document.querySelectorAll('details')) one.open = true`

/** Pairs of labels of one picture that overlap, and labels that leave their picture. */
const COLLISIONS = `[...document.querySelectorAll('svg[role=img]')].filter((svg) => svg.checkVisibility()).flatMap((svg) => {
  const box = svg.getBoundingClientRect()
  const labels = [...svg.querySelectorAll('text')].filter((one) => one.textContent !== '')
  const boxes = labels.map((one) => ({ text: one.textContent, ...one.getBoundingClientRect().toJSON() }))
  const outside = boxes.filter((one) => one.left < box.left - 1 || one.right > box.right + 1)
  const overlapping = boxes.filter((a, at) => boxes.slice(at + 1).some((b) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2))
  return [...outside, ...overlapping].map(({ text }) => text)
})`

/** Texts that are drawn over the next cell or block, because they do not fit theirs. */
const OVERFLOWS = `[...document.querySelectorAll('th, td, p, h1, h2, h3, li, summary, label')].filter((one) => one.checkVisibility() &&
  one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX === 'visible' && getComputedStyle(one).display !== 'inline' &&
  one.closest('.chart, nav') === null).map((one) => one.tagName + ' ' + one.textContent.slice(0, 40))`

/** Charts whose lines and areas have no points. */
const EMPTY_CHARTS = `[...document.querySelectorAll('.chart svg, .multiples svg')].filter((svg) =>
  ![...svg.querySelectorAll('path.line, path.layer')].some((path) => (path.getAttribute('d') ?? '').length > 8)).length`

describe.skipIf(isMissing('Chromium'))('a report in a browser', () => {
  test.for(PAGES)('of the export %s makes no requests and logs no errors', async (name) => {
    const { requests, errors } = await shared(name)
    expect({ requests, errors }).toEqual({ requests: [], errors: [] })
  })

  // Colours do not change what fits.
  const light = SIZES.filter(({ name }) => name !== 'a laptop in the dark')
  test.for(PAGES.flatMap((name) => light.map((size) => [name, size.name, size] as const)))(
    'of the export %s fits %s: no text over another, no empty chart, no scrolling to the side',
    async ([name, , size]) => {
      const open = await shared(name)
      await show(open, size)
      await open.page.evaluate(OPEN_ALL)
      const [collisions, overflows, empty, width] = await Promise.all(
        [COLLISIONS, OVERFLOWS, EMPTY_CHARTS, 'document.documentElement.scrollWidth'].map((script) =>
          open.page.evaluate(script),
        ),
      )
      expect({ collisions, overflows, empty, width }).toEqual({
        collisions: [],
        overflows: [],
        empty: 0,
        width: size.width,
      })
    },
  )

  // The others show the same parts.
  test.for(['mainnet', 'hostile', 'rejects', 'blocks', 'priced'])(
    'of the export %s has no accessibility violations, light and narrow or dark and wide',
    async (name) => {
      const open = await shared(name)
      await open.page.evaluate(axe.source)
      for (const size of [SIZES[0], SIZES[2]]) {
        await show(open, size)
        const violations = await open.page.evaluate(async () => {
          const { axe: checker } = globalThis as unknown as {
            axe: { run(): Promise<{ violations: Violation[] }> }
          }
          type Violation = { id: string; nodes: { html: string }[] }
          const { violations: found } = await checker.run()
          return found.map(({ id, nodes }) => [id, nodes[0]?.html.slice(0, 200)])
        })
        expect({ size: size.name, violations }).toEqual({ size: size.name, violations: [] })
      }
    },
  )

  test('has at most 3,000 nodes until details are opened', async () => {
    for (const name of ['demo', 'priced', 'two'] as const) {
      const { page } = await open(name)
      expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(3_000)
      await page.context().close()
    }
  })

  test('tells within the first screen the total, the largest holding and whether it is complete', async () => {
    const open = await shared('priced')
    await show(open, SIZES[1])
    for (const selector of ['h1', '.period', '.seal', '.total', '.legend']) {
      const box = await open.page.locator(selector).first().boundingBox()
      expect([selector, (box?.y ?? 9_999) + (box?.height ?? 0) < 900]).toEqual([selector, true])
    }
  })

  test('filters transactions by kind, wallet and words, and shows the rows of one', async () => {
    const { page } = await open('demo')
    const output = () => page.locator('#activity output').textContent()
    const all = await output()
    await page.locator('[data-filter=kind]').selectOption('failed')
    await expect.poll(output).not.toBe(all)
    const kinds = await page
      .locator('.event')
      .evaluateAll((events) => events.map(({ className }) => className))
    expect(new Set(kinds)).toEqual(new Set(['event failed']))
    await page.locator('[data-filter=kind]').selectOption('')
    await page.locator('input[type=search]').fill('burn')
    await expect.poll(() => page.locator('.event.burned').count()).toBeGreaterThan(3)
    await page.locator('input[type=search]').fill('no such text')
    await expect.poll(() => page.locator('.days').textContent()).toBe('No transaction matches.')
    await page.locator('input[type=search]').fill('')
    const details = page.locator('.entries details').first()
    await details.locator('summary').click()
    await expect.poll(() => details.locator('tr').count()).toBeGreaterThan(0)
    await page.locator('[data-do=older]').click()
    await expect.poll(output).toMatch(/^26–50 of/)
    await page.context().close()
  })

  test('links hashes and addresses to the explorer of the chain, until one click removes the links', async () => {
    const { page } = await open('mainnet')
    const links = page.locator('a.explorer[href]')
    const addresses = await links.evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''))
    expect(addresses.some((address) => /^https:\/\/etherscan\.io\/tx\/0x[0-9a-f]{64}$/.test(address))).toBe(
      true,
    )
    expect(await page.locator('a.explorer:not([rel=noreferrer])').count()).toBe(0)
    await page.locator('[data-do=links]').click()
    expect(await links.count()).toBe(0)
    await page.locator('[data-do=links]').click()
    expect(await links.count()).toBe(addresses.length)
    await page.context().close()
  })

  test('sorts a table, shows all of its rows, and saves it with exact amounts', async () => {
    const { page } = await open('priced')
    const table = page.locator('#parties table').first()
    expect(await table.locator('tbody tr').count()).toBe(12)
    await table.locator('thead button', { hasText: 'Transfers' }).click()
    const numbers = await table
      .locator('tbody td:nth-child(3)')
      .evaluateAll((cells) => cells.map((cell) => Number(cell.getAttribute('data-v'))))
    expect(numbers.length).toBeGreaterThan(12)
    expect(numbers).toEqual([...numbers].sort((a, b) => b - a))
    const download = page.waitForEvent('download')
    await page.locator('#holdings caption button').first().click()
    const text = await (await download)
      .createReadStream()
      .then((stream) => stream.setEncoding('utf8').toArray())
    const exact = await page.locator('#holdings tbody td').first().getAttribute('data-v')
    expect(text.join('')).toContain(String(exact))
    await page.context().close()
  })

  test('prints dark on white, a page to sign for each year, and 100 movements on at most 8 pages', async () => {
    const open = await shared('priced')
    await show(open, SIZES[4])
    const colors = await open.page.evaluate(
      '(({ color, backgroundColor }) => [color, backgroundColor])(getComputedStyle(document.body))',
    )
    expect(colors).toEqual(['rgb(28, 33, 39)', 'rgb(255, 255, 255)'])
    expect(await open.page.locator('.sign').count()).toBe(1)
    const { page } = await shared('mainnet')
    await page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(await page.locator('table:not(.data table) template').count()).toBe(0)
    const pdf = await page.pdf({ preferCSSPageSize: true })
    expect(pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length).toBeLessThanOrEqual(8)
  })
})
