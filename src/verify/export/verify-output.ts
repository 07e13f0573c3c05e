import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ExportError } from '../../core/model/errors.ts'
import { EXPORT_ENTRIES, MANIFEST_FILE, type Manifest, PRIVATE_FOLDER } from '../../core/model/manifest.ts'
import type { BlockRange } from '../../core/model/model.ts'
import { TABLES } from '../../core/table/index.ts'
import { columnDifferences } from '../../core/table/schema-changes.ts'
import { type Findings, openFindings } from '../../read/findings.ts'
import { readManifest } from '../../read/read-manifest.ts'
import { openScratchDatabase } from '../../read/scratch-database.ts'
import { checkBlockRanges, checkMissingBlocks } from './blocks.ts'
import type { CheckedExport } from './checked-export.ts'
import { checkCoverage, checkWalletsCovered, createWalletsTable } from './coverage.ts'
import { createExpectedEntries, SOURCES } from './expected-entries.ts'
import { checkFacts } from './facts.ts'
import { unlistedFiles } from './files.ts'
import { checkIdentities } from './identity.ts'
import { checkJobSettings } from './job-settings.ts'
import { checkLedgerRows } from './ledger-match.ts'
import { checkLedgerRules } from './ledger-rules.ts'
import { checkLinks } from './links.ts'
import { loadTables } from './load-tables.ts'
import { checkKeys, checkOrder } from './order.ts'
import { checkRejects } from './rejects.ts'
import { checkTotals } from './totals.ts'
import { checkUnknowns } from './unknowns.ts'

export type Verdict = {
  /** True where no check failed. */
  readonly ok: boolean
  /** False where no run has finished here: there are pages to go on from, but no manifest. */
  readonly isFinished: boolean
  /** Files and rows that the manifest lists. */
  readonly files: number
  readonly rows: number
  /** Blocks that the manifest says are missing. */
  readonly missingBlocks: readonly BlockRange[]
  /** Records that the export could not hold, as the manifest says. */
  readonly rejects: number
  /** Transactions whose status is unknown, and own ones whose fee is unknown or zero, as the manifest says. */
  readonly statusUnknown: number
  readonly feeUnknown: number
  /** Checks made, failed ones included. */
  readonly checks: number
  /** One line each: the place, what was expected and what was found. At most 50, then `and N more`. */
  readonly problems: readonly string[]
}
export type VerifyOptions = {
  /** Told what is being looked at, and of files that the manifest does not list. @default nobody */
  onProgress?: (message: string) => void
}

/**
 * Re-hashes every file of an output, re-reads every row and checks keys, order, counts, coverage and ledger
 * arithmetic (CONTRACT section 4). Memory is bounded; scratch space is taken under the system's temporary folder.
 *
 * @throws ExportError USAGE where the folder does not exist or never held an export. What is wrong with one is a problem,
 * not a throw.
 */
export async function verifyOutput(folder: string, options: VerifyOptions = {}): Promise<Verdict> {
  const entry = await stat(folder).catch(() => undefined)
  if (!entry?.isDirectory()) throw new ExportError('USAGE', `there is no output folder ${folder}`)
  await requireExportEntries(folder)
  const findings = openFindings()
  const isFinished = !(await isInProgress(folder))
  const manifest = await readManifest(folder, findings)
  const differences = manifest === undefined ? [] : columnDifferences(manifest)
  for (const difference of differences)
    findings.addProblem(`manifest.json: ${difference}: another version wrote this export; run its job again`)
  if (manifest !== undefined && differences.length === 0)
    await checkOutput({ folder, manifest, findings, onProgress: options.onProgress ?? noop })
  const tables = Object.values(manifest?.tables ?? {})
  return {
    ok: findings.count === 0,
    isFinished,
    files: tables.reduce((sum, table) => sum + table.files.length, 0),
    rows: tables.reduce((sum, table) => sum + table.rows, 0),
    missingBlocks: (manifest?.blocks?.missing ?? []).map(({ fromBlock, toBlock }) => ({
      from: fromBlock,
      to: toBlock,
    })),
    rejects: manifest?.rejects ?? 0,
    statusUnknown: manifest?.statusUnknown ?? 0,
    feeUnknown: manifest?.feeUnknown ?? 0,
    checks: findings.checks,
    problems: findings.list(),
  }
}

/** Without its manifest, an export is still known by what else a run leaves: that is damage, and no wrong folder. */
async function requireExportEntries(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => [...EXPORT_ENTRIES])
  if (names.some((name) => EXPORT_ENTRIES.has(name))) return
  throw new ExportError('USAGE', `${folder} holds no finished export (no ${MANIFEST_FILE})`, {
    fix: 'Name the output folder of a run, such as output/mine, or its job file.',
  })
}

async function isInProgress(folder: string): Promise<boolean> {
  const exists = (name: string) =>
    stat(join(folder, name)).then(
      () => true,
      () => false,
    )
  return (await exists(PRIVATE_FOLDER)) && !(await exists(MANIFEST_FILE))
}

type VerifyContext = {
  readonly folder: string
  readonly manifest: Manifest
  readonly findings: Findings
  readonly onProgress: (message: string) => void
}

async function checkOutput(context: VerifyContext): Promise<void> {
  const { folder, manifest, findings, onProgress } = context
  for (const path of await unlistedFiles(folder, manifest))
    onProgress(`not in the manifest, not checked: ${path}`)
  checkCoverage(manifest, findings)
  checkBlockRanges(manifest, findings)
  await checkRejects(folder, manifest.rejects, findings)
  const database = await openScratchDatabase(folder)
  try {
    const checkedExport = await loadTables({ ...context, database })
    await createWalletsTable(database, manifest.coverage)
    await checkTables(checkedExport, onProgress)
  } finally {
    await database.close()
  }
}

async function checkTables(
  checkedExport: CheckedExport,
  onProgress: VerifyContext['onProgress'],
): Promise<void> {
  for (const { name } of TABLES.filter((table) => checkedExport.completeTables.has(table.name))) {
    onProgress(`checking keys and order of ${name}`)
    await checkKeys(checkedExport, name)
    await checkOrder(checkedExport, name)
  }
  onProgress('checking counts and coverage')
  await checkIdentities(checkedExport)
  await checkFacts(checkedExport)
  await checkLinks(checkedExport)
  await checkWalletsCovered(checkedExport)
  await checkUnknowns(checkedExport)
  await checkJobSettings(checkedExport)
  await checkMissingBlocks(checkedExport)
  if (checkedExport.completeTables.has('ledger')) await checkLedger(checkedExport, onProgress)
}

async function checkLedger(
  checkedExport: CheckedExport,
  onProgress: VerifyContext['onProgress'],
): Promise<void> {
  onProgress('checking the arithmetic of ledger')
  await checkLedgerRules(checkedExport)
  const sources = await createExpectedEntries(checkedExport)
  if (sources.length > 0) await checkLedgerRows(checkedExport, sources)
  if (sources.length === SOURCES.length) await checkTotals(checkedExport)
}

function noop(): void {}
