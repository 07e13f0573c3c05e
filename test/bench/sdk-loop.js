// What users would write without walletlake: a loop over the pages of the official client that writes five CSV files
// with csv-stringify.
// Usage: node sdk-loop.js <base URL> <address> <end block> <folder>
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { Avalanche } from '@avalanche-sdk/chainkit'
import { stringify } from 'csv-stringify'

const [serverURL, address, endBlock, folder] = process.argv.slice(2)
const party = ({ from, to }) => [from?.address, from?.name, to?.address, to?.name]

const TABLES = {
  transactions: ({ nativeTransaction: n }) => [
    [
      n.txType,
      n.txStatus,
      n.txStatus === '1',
      n.nonce,
      ...party(n),
      n.value,
      n.gasLimit,
      n.gasUsed,
      n.gasPrice,
      String(BigInt(n.gasUsed) * BigInt(n.gasPrice)),
      n.method?.callType,
      n.method?.methodHash,
      n.method?.methodName,
      n.blockMinDelayExcess,
    ],
  ],
  erc20_transfers: ({ erc20Transfers = [] }) =>
    erc20Transfers.map((entry) => {
      const { address, name, symbol, decimals, price } = entry.erc20Token
      const amount = Number(entry.value) / 10 ** decimals
      return [
        entry.logIndex,
        address,
        name,
        symbol,
        decimals,
        ...party(entry),
        entry.value,
        amount,
        price?.currencyCode,
        price?.value,
      ]
    }),
  erc721_transfers: ({ erc721Transfers = [] }) =>
    erc721Transfers.map((entry) => {
      const { address, name, symbol, tokenId, tokenUri, metadata = {} } = entry.erc721Token
      return [entry.logIndex, address, name, symbol, tokenId, tokenUri, ...party(entry), metadata.name]
    }),
  erc1155_transfers: ({ erc1155Transfers = [] }) =>
    erc1155Transfers.map((entry) => {
      const { address, tokenId, tokenUri, metadata = {} } = entry.erc1155Token
      return [entry.logIndex, address, tokenId, tokenUri, ...party(entry), entry.value, metadata.name]
    }),
  internal_transactions: ({ internalTransactions = [] }) =>
    internalTransactions.map((entry) => [
      entry.internalTxType,
      ...party(entry),
      entry.value,
      entry.isReverted,
      entry.gasLimit,
      entry.gasUsed,
    ]),
}

const writers = Object.keys(TABLES).map((table) => {
  const csv = stringify()
  const file = csv.pipe(createWriteStream(join(folder, `${table}.csv`)))
  return { table, csv, file }
})
const sdk = new Avalanche({ serverURL, enableTelemetry: false })
const pages = await sdk.data.evm.address.transactions.list(
  { address, chainId: '43114', pageSize: 100, sortOrder: 'asc', startBlock: 0, endBlock: Number(endBlock) },
  { serverURL },
)
let transactions = 0
for await (const page of pages) {
  for (const item of page.result.transactions) {
    const n = item.nativeTransaction
    const time = new Date(n.blockTimestamp * 1000).toISOString()
    const prefix = [n.chainId, n.blockNumber, n.blockHash, time, n.txHash, n.blockIndex]
    transactions += 1
    for (const { table, csv } of writers) {
      for (const cells of TABLES[table](item)) {
        if (!csv.write([...prefix, ...cells])) await new Promise((resolve) => csv.once('drain', resolve))
      }
    }
  }
}
for (const { csv } of writers) csv.end()
await Promise.all(writers.map(({ file }) => finished(file)))
console.log(transactions)
