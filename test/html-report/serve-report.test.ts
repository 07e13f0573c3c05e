import { rmSync } from 'node:fs'
import { request as ask } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { serveReport } from '../../src/html-report/serve-report.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

async function served(output: string) {
  const report = await serveReport([output])
  onTestFinished(() => report.close())
  return report
}

/** The status of an answer to a request that says it was made to this host. */
function statusFor(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    ask(url, { headers: { host } }, (response) => resolve(response.resume().statusCode)).end()
  })
}

test('a report is shown anew when the export has changed', async () => {
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
  const gone = await fetch(url)
  expect([gone.status, await gone.text()]).toEqual([503, expect.stringContaining('holds no finished export')])
})

test('only its own path, asked for on this machine, is answered', async () => {
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

test('what cannot be shown at first is refused at once', async () => {
  await expect(serveReport([tempFolder()])).rejects.toMatchObject({ code: 'USAGE' })
})
