// Time until a report page is ready in a browser (Debian's Chromium), its number of nodes, and duration of a search.
// Usage: npm run bench -- page [transactions, default 32000, which give about 104,000 ledger rows]
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import { runMeasured } from './run-measured.js'
import { withLedger } from './with-service.js'

const TIMES = 5
const SEARCH_TERMS = ['0xaaaa', 'burn', 'usdc', 'nothing has this']

export function benchHtmlReport(transactions = 32_000) {
  return withLedger({ transactions: Number(transactions), format: 'csv' }, async ({ output }) => {
    const reportRun = runMeasured(['report', output])
    const file = join(output, 'report.html')
    const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
    try {
      const found = []
      for (let time = 0; time < TIMES; time += 1) found.push(await measurePage(browser, file))
      const worst = (name) => Math.max(...found.map((one) => one[name]))
      console.table([
        {
          pageMB: Math.round(statSync(file).size / 1e5) / 10,
          madeInSeconds: Math.round(reportRun.seconds * 10) / 10,
          peakMB: reportRun.peakMB,
          readyMs: worst('readyMs'),
          nodes: worst('nodes'),
          searchMs: worst('searchMs'),
        },
      ])
    } finally {
      await browser.close()
    }
  })
}

async function measurePage(browser, file) {
  const page = await browser.newPage()
  const start = performance.now()
  await page.goto(pathToFileURL(file).href)
  while (!/transactions$/.test((await page.locator('#activity output').textContent()) ?? ''))
    await page.waitForTimeout(5)
  const readyMs = Math.round(performance.now() - start)
  const nodes = await page.evaluate(() => document.querySelectorAll('*').length)
  const times = []
  for (const text of SEARCH_TERMS)
    times.push(
      await page.evaluate((term) => {
        const input = document.querySelector('input[type=search]')
        input.value = term
        const before = performance.now()
        input.dispatchEvent(new Event('input'))
        document.body.getBoundingClientRect()
        return performance.now() - before
      }, text),
    )
  await page.close()
  return { readyMs, nodes, searchMs: Math.round(Math.max(...times)) }
}
