// Wall time of whole processes on 100,000 transactions of one wallet, no delay, no quota: walletlake against a plain loop
// over the official client that writes five tables as CSV (sdk-loop.js), and against JSON.parse of the same bytes.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withService } from './with-service.js'

const here = (name) => new URL(name, import.meta.url).pathname
export const WALLET = '0x0000000000000000000000000000000000001000'
export const FACTS = 'transactions,erc20_transfers,erc721_transfers,erc1155_transfers,internal_transactions'

const FORMS = ['csv', 'parquet'].flatMap((format) => [undefined, FACTS].map((tables) => ({ format, tables })))

/** All take turns, `rounds` times, and the median of each counts: a machine is not as fast at every moment. */
export function benchThroughput(transactions = 100_000, rounds = 5) {
  return withService({ transactions }, async ({ folder, url }) => {
    const floor = await parseAll(url, transactions)
    const measured = Array.from({ length: rounds }, (_, round) => {
      const place = { folder: join(folder, String(round)), transactions }
      mkdirSync(place.folder)
      return [loop(url, place), ...FORMS.map((form) => exported(url, { ...place, ...form }))]
    })
    const [sdk, ...ours] = measured[0].map((_, at) => median(measured.map((seconds) => seconds[at])))
    const row = (what, seconds) => ({
      what,
      seconds: seconds.toFixed(1),
      ofLoop: (sdk / seconds).toFixed(2),
    })
    console.table([
      row('loop over the official client, five tables, CSV', sdk),
      ...FORMS.map((form, at) => row(nameOf(form), ours[at])),
      row('JSON.parse of the same bytes (the floor)', floor),
    ])
  })
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1]

const nameOf = ({ format, tables }) =>
  `walletlake, ${tables === undefined ? 'seven' : 'the same five'} tables, ${format}`

/** Seconds that parsing all pages takes; fetching them is not counted. */
async function parseAll(url, transactions) {
  let ms = 0
  for (let token = 0; token < transactions; token += 100) {
    const query = `startBlock=0&endBlock=${transactions}&sortOrder=asc&pageSize=100&pageToken=${token}`
    const answer = await fetch(`${url}/v1/chains/43114/addresses/${WALLET}/transactions?${query}`)
    const text = await answer.text()
    const started = performance.now()
    JSON.parse(text)
    ms += performance.now() - started
  }
  return ms / 1000
}

function loop(url, { folder, transactions }) {
  const out = join(folder, 'loop')
  mkdirSync(out)
  const { seconds, stdout } = timed([here('./sdk-loop.js'), url, WALLET, String(transactions), out])
  if (Number(stdout) !== transactions) throw new Error(`the loop wrote ${stdout} transactions`)
  return seconds
}

function exported(url, { folder, transactions, format, tables }) {
  const [job, output] = [join(folder, 'bench.json'), join(folder, `${format}-${tables === undefined}`)]
  const fields = { chain: '43114', endBlock: transactions, addresses: [WALLET] }
  writeFileSync(job, JSON.stringify(fields))
  const chosen = tables === undefined ? [] : ['--tables', tables]
  const args = ['run', job, '--base-url', url, '--output', output, '--format', format, '--quiet', ...chosen]
  const { seconds } = timed([here('../../dist/bin.js'), ...args])
  const manifest = JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8'))
  if (manifest.tables.transactions.rows !== transactions) throw new Error('rows are missing')
  return seconds
}

function timed(args) {
  const started = performance.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`exit ${status}: ${stderr}`)
  return { seconds: (performance.now() - started) / 1000, stdout }
}
