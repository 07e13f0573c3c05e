import { ExportError } from '../../core/model/errors.ts'
import type { Manifest } from '../../core/model/manifest.ts'
import type { BlockRange } from '../../core/model/model.ts'
import { type Dataset, openDataset } from '../../read/dataset.ts'
import { type OpenedService, openService } from '../../sources/data-api/open-service.ts'
import type { RequestCounts, ServiceAccess } from '../../sources/service-access.ts'
import { type AuditContext, auditBlocks } from './audit-blocks.ts'
import {
  loadExportedTransactions,
  readExportedTransactions,
  sampleExportedBlocks,
} from './exported-blocks.ts'
import { sampleBlocks } from './sample-blocks.ts'
import type { AuditVerdict } from './verdict.ts'

export type AuditOptions = {
  service: ServiceAccess
  /**
   * `all` blocks of the coverage, or a random sample of `sample` blocks. Half of the sample comes from blocks in which
   * the export has native transactions from or to a wallet (fewer if there are not enough), the rest from the whole
   * range. The same seed selects the same blocks.
   */
  blocks: 'all' | { sample: number; seed: number }
  /** Receives one-line progress messages. @default none */
  onProgress?: (message: string) => void
}

export type AuditResult = AuditVerdict & RequestCounts

/**
 * Cross-checks an export against a second source, the block endpoint (interface section 4.1): every listed transaction
 * from or to a wallet must be exported, and vice versa. The endpoint lists native transactions only, so transactions
 * that concern a wallet only through token or internal transfers are not judged. Memory is bounded.
 *
 * @throws ExportError USAGE if the folder has no export that can be audited, VERIFY_FAILED if its files cannot be read,
 * REQUEST_REFUSED if the service knows none of the blocks, and the errors of failed requests
 */
export async function auditOutput(folder: string, options: AuditOptions): Promise<AuditResult> {
  const output = await openDataset(folder)
  try {
    requireTransactions(folder, output.manifest)
    const range = coveredRange(folder, output.manifest)
    const service = await openService(options.service)
    try {
      return { ...(await audit(output, { service, options, range })), ...service.counts }
    } finally {
      await service.close()
    }
  } finally {
    await output.close()
  }
}

function requireTransactions(folder: string, { job, tables }: Manifest): void {
  if (job.kind === 'blocks')
    throw new ExportError('USAGE', `${folder} is a block export, which came from the block endpoint itself`, {
      fix: 'Audit a wallet export; check this one with `walletlake verify`.',
    })
  if (tables.transactions !== undefined) return
  throw new ExportError('USAGE', `${folder} has no table transactions to audit`, {
    fix: 'Export the job with the table transactions, to the same or another output.',
  })
}

/** The blocks that were read for any wallet. Throws USAGE if there are none: an audit of nothing must not pass. */
function coveredRange(folder: string, { coverage }: Manifest): BlockRange {
  const from = coverage.reduce((min, { fromBlock }) => Math.min(min, fromBlock), Number.POSITIVE_INFINITY)
  const to = coverage.reduce((max, { toBlock }) => Math.max(max, toBlock), 0)
  if (from < to) return { from, to }
  throw new ExportError('USAGE', `${folder} covers no blocks that could be audited`, {
    fix: 'Run its job again once the chain has reached startBlock and the service accepts the wallets.',
  })
}

type AuditServices = { service: OpenedService; options: AuditOptions; range: BlockRange }

async function audit(output: Dataset, { service, options, range }: AuditServices): Promise<AuditVerdict> {
  const { manifest } = output
  const onProgress = options.onProgress ?? (() => {})
  onProgress('reading the export')
  const { blocks, count } = await selectBlocks(output, range, options.blocks)
  const verdict = await auditBlocks(blocks, {
    listBlock: (block) => listBlock(service, manifest.job.chain, block),
    readExported: (range) => readExportedTransactions(output, range),
    isWallet: createWalletCheck(manifest),
    onProgress: (done) => onProgress(`${done} of ${count} blocks`),
  })
  if (verdict.blocks === 0 && verdict.unknownBlocks > 0) throw unknownBlocksError(manifest, verdict)
  return verdict
}

/** Selects the blocks to request, ascending, and loads their exported rows. */
async function selectBlocks(output: Dataset, { from, to }: BlockRange, selection: AuditOptions['blocks']) {
  if (selection === 'all' || selection.sample >= to - from) {
    await loadExportedTransactions(output)
    return { blocks: blocksBetween(from, to), count: to - from }
  }
  const { sample: count, seed } = selection
  const required = await sampleExportedBlocks(output, {
    wallets: output.manifest.coverage,
    count: Math.ceil(count / 2),
    seed,
  })
  const blocks = sampleBlocks({
    count,
    seed,
    from,
    to,
    required: required.filter((at) => at >= from && at < to),
  })
  await loadExportedTransactions(output, blocks)
  return { blocks, count }
}

function* blocksBetween(from: number, to: number): Generator<number, void, void> {
  for (let at = from; at < to; at += 1) yield at
}

async function listBlock({ client, signal }: OpenedService, chainId: string, blockId: number) {
  const entries: unknown[] = []
  try {
    for await (const { transactions } of client.listBlockTransactions({ chainId, blockId }, { signal }))
      for (const each of transactions) entries.push(each)
    return entries
  } catch (error) {
    if (error instanceof ExportError && error.status === 404) return undefined
    throw error
  }
}

function createWalletCheck({ coverage }: Manifest): AuditContext['isWallet'] {
  const wallets = new Map(coverage.map((wallet) => [wallet.address, wallet]))
  return (address, block) => {
    const wallet = wallets.get(address)
    return wallet !== undefined && block >= wallet.fromBlock && block < wallet.toBlock
  }
}

function unknownBlocksError({ job }: Manifest, { unknownBlocks }: AuditVerdict): ExportError {
  const message = `the service knows none of the ${unknownBlocks} blocks of chain ${job.chain} (404)`
  return new ExportError('REQUEST_REFUSED', message, {
    fix: 'Check that --base-url is the address of the service that the export came from.',
  })
}
