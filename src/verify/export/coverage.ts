import { createHash } from 'node:crypto'
import type { Coverage, Manifest } from '../../core/model/manifest.ts'
import { literal } from '../../core/platform/sql.ts'
import type { Findings } from '../../read/findings.ts'
import type { Found, Rows } from '../../read/scratch-database.ts'
import { expectNone, fillTable, type Lake, placeOf } from './checked-export.ts'
import { differs } from './files.ts'

/** Coverage by itself: each address once and in order, and the blocks of all that the job has those of the job. */
export function checkCoverage({ job, coverage }: Manifest, findings: Findings): void {
  const place = 'manifest.json: coverage'
  const end = coverage.reduce((most, { toBlock }) => Math.max(most, toBlock), 0)
  // A wallet that the service refused ends where it was read last.
  const isPresent = ({ removed, toBlock, error }: Coverage) =>
    removed !== true && (toBlock === end || error !== undefined)
  const present = coverage.filter(isPresent)
  findings.expect(
    end <= (job.endBlock ?? end),
    () => `${place}: toBlock ${end} is beyond endBlock ${job.endBlock}`,
  )
  findings.expect(job.addresses === present.length, () => {
    return differs('manifest.json: job', 'addresses', {
      expected: `${present.length} as in coverage`,
      found: job.addresses,
    })
  })
  const hash = createHash('sha256')
    .update(present.map(({ address }) => address).join('\n'))
    .digest('hex')
  findings.expect(job.addressesSha256 === hash, () => {
    return differs('manifest.json: job', 'addressesSha256', {
      expected: `${hash} by coverage`,
      found: job.addressesSha256,
    })
  })
  for (const [at, { address, fromBlock, toBlock, removed = false, error }] of coverage.entries()) {
    const before = coverage[at - 1]?.address
    if (before !== undefined) {
      findings.expect(
        before < address,
        () => `${place}: expected addresses in order, found ${address} after ${before}`,
      )
    }
    findings.expect(
      toBlock >= fromBlock,
      () => `${place}: ${address}: toBlock ${toBlock} is before ${fromBlock}`,
    )
    findings.expect(fromBlock === job.startBlock, () => {
      return differs(place, `fromBlock of ${address}`, { expected: job.startBlock, found: fromBlock })
    })
    // A wallet that left the job ends where it was read last.
    const fits = removed || error !== undefined ? toBlock <= end : toBlock === end
    findings.expect(fits, () => differs(place, `toBlock of ${address}`, { expected: end, found: toBlock }))
  }
}

/** Makes the scratch table `wallets` of the addresses that the job covers. */
export async function createWallets(rows: Rows, coverage: readonly Coverage[]): Promise<void> {
  await rows.run('CREATE TABLE wallets (address VARCHAR, to_block BIGINT)')
  await fillTable(rows, 'wallets', {
    items: coverage,
    toValues: ({ address, toBlock }) => `(${literal(address)}, ${toBlock})`,
  })
}

/** Rows agree with coverage: no other wallets, as many transactions, none outside the covered blocks. */
export async function checkCovered(lake: Lake): Promise<void> {
  for (const name of ['wallet_transactions', 'ledger'] as const) {
    if (!lake.whole.has(name)) continue
    await expectNone(lake, {
      sql: `SELECT f, r, wallet_address FROM ${name} ANTI JOIN wallets ON wallet_address = address`,
      tell: (found) => {
        return `${placeOf(lake, name, found)}: expected a wallet of the coverage, found ${found.wallet_address}`
      },
    })
  }
  if (lake.whole.has('wallet_transactions')) await checkCounts(lake)
}

async function checkCounts({ rows, manifest, findings }: Lake): Promise<void> {
  const found = await rows.all(
    `SELECT wallet_address, count(*) AS n, min(block_number) AS first, max(block_number) AS last
     FROM wallet_transactions GROUP BY wallet_address`,
  )
  const seen = new Map(found.map((one) => [one.wallet_address, one]))
  for (const covered of manifest.coverage)
    checkWallet({ covered, seen: seen.get(covered.address) }, { manifest, findings })
}

/** Rejected records were read, but gave no row: a wallet may count that many more. */
function checkWallet(
  { covered, seen }: { covered: Coverage; seen: Found | undefined },
  { manifest, findings }: { manifest: Manifest; findings: Findings },
): void {
  const place = `wallet_transactions of ${covered.address}`
  const rows = Number(seen?.n ?? 0)
  const missing = covered.transactions - rows
  findings.expect(missing >= 0 && missing <= manifest.rejects, () => {
    return differs(place, 'rows', { expected: `${covered.transactions} as in coverage`, found: rows })
  })
  if (seen === undefined) return
  const blocks = [Number(seen.first), Number(seen.last)] as const
  findings.expect(blocks[0] >= covered.fromBlock && blocks[1] < covered.toBlock, () => {
    return differs(place, 'blocks', {
      expected: `${covered.fromBlock} to ${covered.toBlock - 1}`,
      found: `${blocks[0]} to ${blocks[1]}`,
    })
  })
}
