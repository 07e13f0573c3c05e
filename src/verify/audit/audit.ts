import { ExportError } from '../../core/model/errors.ts'
import type { Manifest } from '../../core/model/manifest.ts'
import { type OpenedExport, openExport } from '../../read/open-export.ts'
import {
  type OpenedService,
  openService,
  type RequestCounts,
  type ServiceAccess,
} from '../../sources/data-api/open-service.ts'
import { type AuditTools, auditBlocks } from './audit-blocks.ts'
import { drawExportedBlocks, exportedIn, loadExported } from './exported-blocks.ts'
import { drawBlocks } from './sample-blocks.ts'
import type { AuditVerdict } from './verdict.ts'

export type AuditOptions = {
  service: ServiceAccess
  /**
   * `all` blocks of the coverage, or so many of them: half of them such in which the export has transactions from or to
   * a wallet, as far as there are such, the others from anywhere. The same seed draws the same blocks.
   */
  blocks: 'all' | { sample: number; seed: number }
  /** One line about what is being done. @default nobody */
  onProgress?: (message: string) => void
}

export type AuditResult = AuditVerdict & RequestCounts

/**
 * Holds an export against a second source, the block listing (interface section 4.1): what it lists from or to a
 * wallet has to be exported, and the other way round. It lists native transactions only, so what a wallet has through
 * transfers alone is not judged. Memory is bounded.
 *
 * @throws ExportError USAGE without an export that can be audited, VERIFY_FAILED where its files cannot be read,
 * REQUEST_REFUSED where the service knows none of the blocks, and what requests end with.
 */
export async function auditOutput(folder: string, options: AuditOptions): Promise<AuditResult> {
  const output = await openExport(folder)
  try {
    requireTransactions(folder, output.manifest)
    const service = await openService(options.service)
    try {
      return { ...(await audit(output, { service, options })), ...service.counts }
    } finally {
      await service.close()
    }
  } finally {
    await output.close()
  }
}

function requireTransactions(folder: string, { job, tables }: Manifest): void {
  if (job.kind === 'blocks')
    throw new ExportError('USAGE', `${folder} holds whole blocks, as the block listing has them already`, {
      fix: 'Audit an export of wallets; `walletlake verify` checks this one.',
    })
  if (tables.transactions !== undefined) return
  throw new ExportError('USAGE', `${folder} has no table transactions to be audited`, {
    fix: 'Export the job with the table transactions, to this or another output.',
  })
}

type Auditing = { service: OpenedService; options: AuditOptions }

async function audit(output: OpenedExport, { service, options }: Auditing): Promise<AuditVerdict> {
  const { manifest } = output
  const onProgress = options.onProgress ?? (() => {})
  onProgress('reading the export')
  const { blocks, count } = await chooseBlocks(output, options.blocks)
  const verdict = await auditBlocks(blocks, {
    listBlock: (block) => listBlock(service, manifest.job.chain, block),
    exportedIn: (place) => exportedIn(output, place),
    isWallet: coverageOf(manifest),
    onProgress: (done) => onProgress(`${done} of ${count} blocks`),
  })
  if (verdict.blocks === 0 && verdict.unknownBlocks > 0) throw nothingKnown(manifest, verdict)
  return verdict
}

/** The blocks to ask, rising, with their rows loaded. */
async function chooseBlocks(output: OpenedExport, wanted: AuditOptions['blocks']) {
  const { coverage } = output.manifest
  const from = coverage.reduce((least, { fromBlock }) => Math.min(least, fromBlock), Number.POSITIVE_INFINITY)
  const to = coverage.reduce((most, { toBlock }) => Math.max(most, toBlock), 0)
  const range = Math.max(0, to - from)
  if (wanted === 'all' || wanted.sample >= range) {
    await loadExported(output)
    return { blocks: countUp(from, to), count: range }
  }
  const { sample: count, seed } = wanted
  const sure = await drawExportedBlocks(output, { wallets: coverage, count: Math.ceil(count / 2), seed })
  const blocks = drawBlocks({
    ...{ count, seed, from, to },
    sure: sure.filter((at) => at >= from && at < to),
  })
  await loadExported(output, blocks)
  return { blocks, count }
}

function* countUp(from: number, to: number): Generator<number, void, void> {
  for (let at = from; at < to; at += 1) yield at
}

async function listBlock({ client, signal }: OpenedService, chainId: string, blockId: number) {
  const entries: unknown[] = []
  try {
    for await (const { transactions } of client.listBlockTransactions({ chainId, blockId }, { signal }))
      for (const each of transactions) entries.push(each)
    return entries
  } catch (thrown) {
    if (thrown instanceof ExportError && thrown.status === 404) return undefined
    throw thrown
  }
}

function coverageOf({ coverage }: Manifest): AuditTools['isWallet'] {
  const wallets = new Map(coverage.map((wallet) => [wallet.address, wallet]))
  return (address, block) => {
    const wallet = wallets.get(address)
    return wallet !== undefined && block >= wallet.fromBlock && block < wallet.toBlock
  }
}

function nothingKnown({ job }: Manifest, { unknownBlocks }: AuditVerdict): ExportError {
  const what = `the service knows none of the ${unknownBlocks} blocks of chain ${job.chain} (404)`
  return new ExportError('REQUEST_REFUSED', what, {
    fix: 'Check that --base-url names the service that the export came from.',
  })
}
