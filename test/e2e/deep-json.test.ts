import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createServiceClient } from '../../src/index.ts'
import { runCommand } from '../helpers/command.ts'
import { NESTED_JSON, TOO_DEEP_JSON } from '../helpers/deep-json.ts'
import { faultWhere, respondWith } from '../helpers/faults.ts'
import { faultyRun, service } from '../helpers/faulty-run.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { demoWallets, nodeData } from '../helpers/node-data.ts'
import { readManifest } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

type Fields = Record<string, unknown>
/** Placeholder for a deeply nested value. */
const HERE = 'deeply nested value'

const native = (fields: Fields) => (item: Fields) => ({
  ...item,
  nativeTransaction: { ...(item.nativeTransaction as Fields), ...fields },
})
const field = (fields: Fields) => (item: Fields) => ({ ...item, ...fields })

/** Puts the nested value into a field of an item that is exported nevertheless. */
const KEPT: Record<string, (item: Fields) => Fields> = {
  'an unknown field of an item': field({ more: HERE }),
  'an unknown field of a transaction': native({ more: HERE }),
  'a field of text': native({ method: { methodName: HERE } }),
}
const REJECTED: Record<string, (item: Fields) => Fields> = {
  'a number': native({ value: HERE }),
  'a block number': native({ blockNumber: HERE }),
  'a hash': native({ txHash: HERE }),
  'a party': native({ from: [HERE] }),
  'an entry of a list': field({ erc20Transfers: [HERE] }),
  'the whole transaction': () => ({ nativeTransaction: [HERE] }),
}
const PLACES = [...Object.values(KEPT), ...Object.values(REJECTED)]
const REJECTS = Object.keys(REJECTED).length

/** A wallet with two pages. */
const [wallet = ''] = Object.entries(nodeData.membership).find(([, { items }]) => items === 101) ?? []
const address = wallet.toLowerCase()

/** Starts a service whose first items of the wallet contain the nested value, each in a different field. */
function startDeep(text: string) {
  return startLoopback(
    service,
    faultWhere(
      ({ path, query }) => path.endsWith('/transactions') && !query.has('pageToken'),
      (response, { body }) => {
        const page = JSON.parse(body) as { transactions: Fields[] }
        const isFirst = page.transactions.length === 100
        const transactions = page.transactions.map((item, at) => (isFirst && PLACES[at]?.(item)) || item)
        const written = JSON.stringify({ ...page, transactions })
        response.writeHead(200).end(written.replaceAll(JSON.stringify(HERE), text))
      },
    ),
  )
}

const countOf = (text: string, whole: string) => whole.split(text).length - 1

const [lists, objects] = NESTED_JSON

test.for([
  { ...lists, format: 'csv' },
  { ...objects, format: 'parquet' },
])('$what in any field do not fail a run and are kept unchanged, $format', async ({ text = '', format }) => {
  const { url } = await startDeep(text)
  const folder = tempFolder()
  const [job, output] = [join(folder, 'deep.json'), join(folder, 'out')]
  const fields = { chain: '43114', endBlock: 421, addresses: [address], output, format, keepRaw: true }
  writeFileSync(job, JSON.stringify(fields))
  const { exit, stderr } = await runCommand(['run', job, '--base-url', url])
  expect([exit, stderr]).toEqual([6, expect.stringContaining('RECORDS_REJECTED')])
  expect(readManifest(output).rejects).toBe(REJECTS)
  const rejects = readFileSync(join(output, 'rejects.ndjson'), 'utf8')
  const raw = gunzipSync(readFileSync(join(output, 'raw', `${address}.ndjson.gz`))).toString()
  expect([countOf(text, rejects), countOf(text, raw)]).toEqual([REJECTS, PLACES.length])
  for (const args of [
    ['verify', output],
    ['load', output, '--to', `duckdb:${join(folder, 'lake.db')}`],
  ]) {
    const { exit: ended, stderr: said } = await runCommand(args)
    expect([ended, said]).toEqual([0, expect.any(String)])
  }
})

test.for(TOO_DEEP_JSON)(
  'rejects pages with $what before parsing them, for 16 wallets at once',
  async ({ text }) => {
    const bomb = respondWith(200, `{"transactions":[{"more":${text}}]}`)
    const { code, message } = await faultyRun(
      faultWhere(() => true, bomb),
      { wallets: demoWallets.slice(0, 16), concurrency: 16, options: { retry: { retries: 1 } } },
    )
    expect([code, message]).toEqual(['PAGE_MALFORMED', expect.stringContaining('deeper than 100 levels')])
  },
)

test('ignores a deeply nested error body and uses the status', async () => {
  const [{ text } = { text: '' }] = TOO_DEEP_JSON
  const { url } = await startLoopback(
    service,
    faultWhere(() => true, respondWith(404, `{"message":${text}}`)),
  )
  const client = createServiceClient({ baseUrl: url })
  const page = client.walletTransactionsPage({ chainId: '1', address })
  await expect(page).rejects.toMatchObject({ code: 'REQUEST_REFUSED', status: 404 })
  await client.close()
})
