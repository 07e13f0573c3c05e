import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { exportListed, listedJob, startListing } from '../helpers/listed-items.ts'
import type { ListedItem } from '../helpers/listing-page.ts'
import { testSample } from '../helpers/test-sample.ts'
import {
  ALICE,
  BOB,
  CAROL,
  erc20,
  erc721,
  erc1155,
  internal,
  item,
  party,
  TOKEN,
} from '../transform/items.ts'

const FORMATS: readonly Pick<Job, 'format' | 'compression'>[] = [
  { format: 'csv', compression: 'none' },
  { format: 'parquet', compression: 'zstd' },
]

/** A transaction with all kinds of transfers at the first position of block 1. */
const atFirstPosition = (txHash: string): ListedItem =>
  item(
    { blockNumber: 1, blockIndex: 0, txHash, value: '5', gasUsed: '21000', gasPrice: '25' },
    {
      erc20Transfers: [erc20(), erc20({ logIndex: 8, to: party(CAROL) })],
      erc721Transfers: [erc721()],
      erc1155Transfers: [erc1155(), erc1155()],
      internalTransactions: [internal(), internal({ to: party(CAROL) })],
    },
  )

testSample(
  1,
  FORMATS,
  'an export of transactions at one position passes verify in $format',
  async (format) => {
    const hashes = ['3', '1', '2'].map((digit) => `0x${digit.repeat(64)}`)
    const { url } = await startListing(hashes.map(atFirstPosition))
    const job = listedJob(url, { ...format, addresses: [BOB, ALICE, CAROL] })
    for (const run of ['first', 'second']) {
      const { code, verdict, manifest } = await exportListed(job)
      expect([run, code, verdict.problems]).toEqual([run, undefined, []])
      expect(manifest.tables.ledger?.rows).toBe(3 * 17)
    }
  },
)

const FORMULA_LIKE = ['=1', '+1', '-1', '@x', '\t1', '\r1', "'=1", "''+x", "'", "'x"]

testSample(
  1,
  FORMATS,
  'labels and a native symbol that look like formulas pass verify in $format',
  async (format) => {
    const { url } = await startListing([atFirstPosition(`0x${'1'.repeat(64)}`)])
    for (const text of format.format === 'csv' ? ['=1', "''+x"] : FORMULA_LIKE) {
      const job = listedJob(url, { ...format, addresses: [ALICE], nativeSymbol: text })
      const wallets = job.wallets.map((wallet) => ({ ...wallet, label: text }))
      const { code, verdict } = await exportListed({ ...job, wallets })
      expect([text, code, verdict.problems]).toEqual([text, undefined, []])
    }
  },
)

test.for(FORMATS)('identifiers that look like formulas pass verify in $format', async (format) => {
  const items = FORMULA_LIKE.map((text, block) => ({
    ...item(
      { blockNumber: block, blockHash: text, txHash: text, value: '5', to: party(text), methodName: text },
      {
        erc20Transfers: [
          erc20({}, { address: text }),
          erc20({ logIndex: 8, to: party(text) }, { address: TOKEN }),
        ],
      },
    ),
  }))
  const { url } = await startListing(items)
  for (const escapeFormulas of [true, false]) {
    const job = listedJob(url, { ...format, escapeFormulas, addresses: [ALICE] })
    const { code, verdict, manifest } = await exportListed(job)
    expect([code, verdict.problems]).toEqual([undefined, []])
    expect(manifest.tables.transactions?.rows).toBe(FORMULA_LIKE.length)
  }
})
