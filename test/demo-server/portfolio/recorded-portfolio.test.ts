import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { buildPortfolio } from './portfolio-chain.ts'

const FOLDER = new URL('../../../src/demo-server/chains/42161/', import.meta.url)

/** To change the portfolio, change its plans and run this test with WALLETLAKE_RECORD=1, which writes the files. */
test('the recorded portfolio is the one that its plans make', () => {
  const { items, state } = buildPortfolio()
  const files = {
    'transactions-full.ndjson.gz': items.map((item) => `${JSON.stringify(item)}\n`).join(''),
    'state.json.gz': `${JSON.stringify(state)}\n`,
  }
  for (const [name, text] of Object.entries(files)) {
    const file = new URL(name, FOLDER)
    if (process.env.WALLETLAKE_RECORD) {
      mkdirSync(FOLDER, { recursive: true })
      writeFileSync(file, gzipSync(text, { level: 9 }))
    }
    expect(gunzipSync(readFileSync(file)).toString('utf8') === text, name).toBe(true)
  }
})
