// What users would write without walletlake for an explorer: a loop over the windows of its five listings that writes
// five CSV files with csv-stringify.
// Usage: node explorer-loop.js <base URL> <address> <folder>
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { stringify } from 'csv-stringify'

const [baseUrl, address, folder] = process.argv.slice(2)
const WINDOW = 10_000
let transactions = 0
for (const action of ['txlist', 'txlistinternal', 'tokentx', 'tokennfttx', 'token1155tx']) {
  const csv = stringify()
  const file = csv.pipe(createWriteStream(join(folder, `${action}.csv`)))
  let from = 0
  for (;;) {
    const query = `module=account&action=${action}&address=${address}&startblock=${from}&page=1&offset=${WINDOW}&sort=asc`
    const { result } = await (await fetch(`${baseUrl}?chainid=43114&${query}`)).json()
    // A full window may end within a block.
    const isFull = result.length >= WINDOW
    const last = result.at(-1)?.blockNumber
    const whole = isFull ? result.filter(({ blockNumber }) => blockNumber !== last) : result
    for (const record of whole) {
      const { timeStamp, ...cells } = record
      const time = new Date(timeStamp * 1000).toISOString()
      if (!csv.write([time, ...Object.values(cells)]))
        await new Promise((resolve) => csv.once('drain', resolve))
    }
    if (action === 'txlist') transactions += whole.length
    if (!isFull) break
    from = Number(last)
  }
  csv.end()
  await finished(file)
}
console.log(transactions)
