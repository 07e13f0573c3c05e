import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { PageOptions } from '../../src/html-report/report.ts'
import { serveReport } from '../../src/html-report/serve-report.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

async function served(output: string, options: PageOptions = {}) {
  const report = await serveReport([output], options)
  onTestFinished(() => report.close())
  return report
}

/** Returns the status of the response to a request with this Host header. */
function statusFor(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    request(url, { headers: { host } }, (response) => resolve(response.resume().statusCode)).end()
  })
}

test('a served report is rendered again when the export has changed', { tags: ['long'] }, async () => {
  const output = tempFolder()
  await exportDemo(output, { endBlock: 10 })
  const { url } = await served(output)
  const before = await (await fetch(url)).text()
  expect(await (await fetch(url)).text()).toBe(before)
  rmSync(output, { recursive: true })
  await exportDemo(output, { endBlock: 20 })
  const after = await (await fetch(url)).text()
  expect([before.includes('blocks 0 to 9'), after.includes('blocks 0 to 19')]).toEqual([true, true])
  rmSync(join(output, 'manifest.json'))
  const failed = await fetch(url)
  expect([failed.status, await failed.text()]).toEqual([
    503,
    expect.stringContaining('holds no finished export'),
  ])
})

test('a served report follows the file of names, and recovers once the cause of a failure is gone', async () => {
  const output = tempFolder()
  const names = join(tempFolder(), 'names.csv')
  const [wallet = ''] = demoWallets
  writeFileSync(names, `address,name\n${wallet},first name\n`)
  await exportDemo(output, { endBlock: 20 })
  const { url } = await served(output, { names })
  const page = async () => {
    const response = await fetch(url)
    return { status: response.status, text: await response.text() }
  }
  writeFileSync(names, `address,name\n${wallet},another name\n`)
  expect((await page()).text).toContain('another name')
  // The manifest is unchanged, and a file that it lists is missing for a while.
  const ledger = join(output, 'ledger')
  renameSync(ledger, `${ledger}-away`)
  writeFileSync(names, `address,name\n${wallet},third name\n`)
  expect((await page()).status).toBe(503)
  renameSync(`${ledger}-away`, ledger)
  expect(await page()).toMatchObject({ status: 200, text: expect.stringContaining('third name') })
})

test("only requests for the report's path with the local Host header are answered", async () => {
  const output = tempFolder()
  await exportDemo(output, { endBlock: 5 })
  const { url } = await served(output)
  const { origin, host, pathname } = new URL(url)
  expect(pathname).toMatch(/^\/[0-9a-f]{32}\/$/)
  expect((await fetch(origin)).status).toBe(404)
  expect((await fetch(url, { method: 'POST' })).status).toBe(404)
  expect(await statusFor(url, 'evil.example')).toBe(404)
  expect(await statusFor(url, host)).toBe(200)
})

test('serveReport throws if the first rendering fails', async () => {
  await expect(serveReport([tempFolder()])).rejects.toMatchObject({ code: 'USAGE' })
})
