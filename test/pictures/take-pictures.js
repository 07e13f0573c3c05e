// Renews the pictures in output/: the report of the demo, as a laptop and a phone show it.
// Usage: npm run pictures (needs a build, and Debian's Chromium)
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PICTURES = [
  { file: 'demo-report.png', width: 1280, height: 820 },
  { file: 'demo-report-phone.png', width: 360, height: 780 },
]

const folder = mkdtempSync(join(tmpdir(), 'walletlake-pictures-'))
const { status } = spawnSync(process.execPath, [join(ROOT, 'dist/bin.js'), 'demo', '--quiet'], {
  cwd: folder,
  stdio: 'inherit',
})
if (status !== 0) process.exit(1)
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
})
try {
  for (const { file, width, height } of PICTURES) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme: 'light' })
    await page.goto(pathToFileURL(join(folder, 'output/demo/report.html')).href)
    await page.locator('.event').first().waitFor()
    await page.screenshot({ path: join(ROOT, 'output', file) })
  }
} finally {
  await browser.close()
  rmSync(folder, { recursive: true })
}
