import { readdir } from 'node:fs/promises'
import { ExportError } from '../../core/model/errors.ts'
import { EXPORT_ENTRIES, MANIFEST_FILE, type Manifest, PRIVATE_FOLDER } from '../../core/model/manifest.ts'
import type { BlockRange, BucketLocation } from '../../core/model/model.ts'
import { type IncompleteWallet, incompleteWallets, type RefusedWallet } from '../../core/model/run-stats.ts'
import { isFolder } from '../../core/platform/entry.ts'
import { TABLE_NAMES, TABLES } from '../../core/table/index.ts'
import { columnDifferences } from '../../core/table/schema-changes.ts'
import { type Findings, openFindings } from '../../read/findings.ts'
import { readManifest } from '../../read/read-manifest.ts'
import { exportReplacedError, watchExport } from '../../read/replaced-export.ts'
import { openScratchDatabase } from '../../read/scratch-database.ts'
import { checkAtomicTransactions, hasAtomicFacts } from './atomic.ts'
import { type CheckedExport, hasRows } from './checked-export.ts'
import {
  checkBlockRanges,
  checkCoverage,
  checkJobSettings,
  checkMissingBlocks,
  checkWalletsCovered,
  createWalletsTable,
} from './coverage.ts'
import { createExpectedEntries, SOURCES } from './expected-entries.ts'
import { checkFactTables } from './fact-tables.ts'
import { checkRejects, unlistedFiles } from './files.ts'
import { checkIdentities } from './identity.ts'
import { checkLedgerRows, checkTotals } from './ledger-match.ts'
import { checkLedgerRules } from './ledger-rules.ts'
import { checkLinks } from './links.ts'
import { loadTables } from './load-tables.ts'
import { checkKeys, checkOrder, checkTimes } from './order.ts'
import { checkDecimals, checkUnknowns } from './unknowns.ts'

export type Verdict = {
  /** True if no check failed. */
  readonly ok: boolean
  /** False if no run has finished: the folder has no manifest, and a checkpoint or no table files. */
  readonly isFinished: boolean
  /** False if another version wrote the export, with other columns. It is not checked then. */
  readonly isCurrent: boolean
  /** False if the current snapshots of its Iceberg tables list other files: a run commits them. */
  readonly isCommitted: boolean
  /** Files that the manifest lists; `rows` counts their rows. */
  readonly files: number
  readonly rows: number
  /** Blocks that the manifest lists as missing. */
  readonly missingBlocks: readonly BlockRange[]
  /** Wallets whose rows are missing because the service refused them, as listed in the manifest. */
  readonly refusedWallets: readonly RefusedWallet[]
  /** Wallets with blocks that the service could not list completely, as listed in the manifest. */
  readonly incompleteWallets: readonly IncompleteWallet[]
  /** Rejected records, as counted by the manifest. */
  readonly rejects: number
  /**
   * Transactions with unknown status, and those sent by a wallet with unknown or zero fee, as counted by the manifest.
   */
  readonly statusUnknown: number
  readonly feeUnknown: number
  readonly feesUpperBound: number
  /** Internal transactions that repeat the top-level call of their transaction, which the ledger contains once. */
  readonly topLevelCalls: number
  /** Number of checks, including failed ones. */
  readonly checks: number
  /** One line per problem: location, expected and found value. At most 50, then `and N more`. */
  readonly problems: readonly string[]
}
export type VerifyOptions = {
  /** Receives progress messages and files that the manifest does not list. @default none */
  onProgress?: (message: string) => void
  /** Where the export is, if the folder is a copy from an object store. Its Iceberg tables are there. @default the folder */
  store?: BucketLocation | undefined
}

/**
 * Verifies an export independently of the code that wrote it: hashes every file, reads every row and checks keys,
 * order, counts, coverage and ledger arithmetic (CONTRACT section 4). Memory is bounded; scratch data goes to the
 * system's temporary folder.
 *
 * @param folder the output folder
 * @returns the verdict; faults of an export are listed in `problems`, not thrown
 * @throws ExportError USAGE if the folder does not exist or never contained an export, OUTPUT_LOCKED if other runs
 *   replaced it during each of three attempts
 */
export async function verifyOutput(folder: string, options: VerifyOptions = {}): Promise<Verdict> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    if (attempt > 0) options.onProgress?.('another run replaced the export meanwhile: verifying it again')
    const watch = await watchExport(folder)
    // A run removes replaced files, so a missing file may be no fault of either export.
    const outcome = await verifyOnce(folder, options).then(
      (verdict) => ({ isGood: verdict.ok, end: () => verdict }),
      (error: unknown) => ({
        isGood: false,
        end: (): never => {
          throw error
        },
      }),
    )
    if (outcome.isGood || !(await watch.isReplaced())) return outcome.end()
  }
  throw exportReplacedError(folder)
}

/** Runs that replace an export one after the other are rare, so more attempts are not worthwhile. */
const MAX_ATTEMPTS = 3

async function verifyOnce(folder: string, options: VerifyOptions): Promise<Verdict> {
  if (!(await isFolder(folder))) throw new ExportError('USAGE', `there is no output folder ${folder}`)
  await requireExportEntries(folder)
  const findings = openFindings()
  const isFinished = !(await isInProgress(folder))
  const manifest = await readManifest(folder, findings)
  const differences = manifest === undefined ? [] : columnDifferences(manifest)
  for (const difference of differences)
    findings.addProblem(`manifest.json: ${difference}: another version wrote this export; run its job again`)
  const { topLevelCalls, isCommitted } =
    manifest === undefined || differences.length > 0
      ? { topLevelCalls: 0, isCommitted: true }
      : await checkOutput({ ...options, folder, manifest, findings, onProgress: options.onProgress ?? noop })
  const tables = Object.values(manifest?.tables ?? {})
  return {
    ok: findings.count === 0,
    isFinished,
    isCurrent: differences.length === 0,
    isCommitted,
    files: tables.reduce((sum, table) => sum + table.files.length, 0),
    rows: tables.reduce((sum, table) => sum + table.rows, 0),
    missingBlocks: (manifest?.blocks?.missing ?? []).map(({ fromBlock, toBlock }) => ({
      from: fromBlock,
      to: toBlock,
    })),
    refusedWallets: (manifest?.coverage ?? []).flatMap(({ address, error }) =>
      error === undefined ? [] : [{ address, error }],
    ),
    incompleteWallets: manifest === undefined ? [] : incompleteWallets(manifest),
    rejects: manifest?.rejects ?? 0,
    statusUnknown: manifest?.statusUnknown ?? 0,
    feeUnknown: manifest?.feeUnknown ?? 0,
    feesUpperBound: manifest?.feesUpperBound ?? 0,
    topLevelCalls,
    checks: findings.checks,
    problems: findings.list(),
  }
}

/**
 * Throws USAGE unless the folder contains any entry that a run writes. An export that lost only its manifest is a
 * damaged export, not a wrong folder.
 */
async function requireExportEntries(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => [...EXPORT_ENTRIES])
  if (names.some((name) => EXPORT_ENTRIES.has(name))) return
  throw new ExportError('USAGE', `${folder} holds no finished export (no ${MANIFEST_FILE})`, {
    fix: 'Name the output folder of a run, such as output/mine, or its job file.',
  })
}

/** Whether no run has published this export yet. An export that lost only its manifest has table files. */
async function isInProgress(folder: string): Promise<boolean> {
  const names = new Set(await readdir(folder).catch(() => [MANIFEST_FILE]))
  if (names.has(MANIFEST_FILE)) return false
  return names.has(PRIVATE_FOLDER) || TABLE_NAMES.every((name) => !names.has(name))
}

type VerifyContext = {
  readonly folder: string
  readonly manifest: Manifest
  readonly findings: Findings
  readonly onProgress: (message: string) => void
  readonly store?: BucketLocation | undefined
}

/** Checks that the current snapshots of Iceberg tables list the files of the manifest. */
async function checkSnapshots({ folder, manifest, findings, store }: VerifyContext): Promise<boolean> {
  if (manifest.job.table !== 'iceberg') return true
  const { compareSnapshots } = await import('../../iceberg/index.ts')
  const problems = await compareSnapshots({ output: folder, store }, manifest)
  return findings.expect(problems.length === 0, () => problems.join('; '))
}

async function checkOutput(context: VerifyContext): Promise<Pick<Verdict, 'topLevelCalls' | 'isCommitted'>> {
  const { folder, manifest, findings, onProgress } = context
  for (const path of await unlistedFiles(folder, manifest))
    onProgress(`not in the manifest, not checked: ${path}`)
  checkCoverage(manifest, findings)
  checkBlockRanges(manifest, findings)
  await checkRejects(folder, manifest.rejects, findings)
  const isCommitted = await checkSnapshots(context)
  const database = await openScratchDatabase(folder)
  try {
    const checkedExport = await loadTables({ ...context, database })
    await createWalletsTable(database, manifest)
    return { topLevelCalls: await checkTables(checkedExport, onProgress), isCommitted }
  } finally {
    await database.close()
  }
}

/** @returns the number of top-level calls among the internal transactions */
async function checkTables(
  checkedExport: CheckedExport,
  onProgress: VerifyContext['onProgress'],
): Promise<number> {
  for (const { name } of TABLES.filter((table) => hasRows(checkedExport, table.name))) {
    onProgress(`checking keys and order of ${name}`)
    await checkKeys(checkedExport, name)
    await checkOrder(checkedExport, name)
    await checkTimes(checkedExport, name)
  }
  onProgress('checking counts and coverage')
  await checkIdentities(checkedExport)
  await checkFactTables(checkedExport)
  await checkAtomicTransactions(checkedExport)
  await checkLinks(checkedExport)
  await checkWalletsCovered(checkedExport)
  await checkUnknowns(checkedExport)
  await checkDecimals(checkedExport)
  await checkJobSettings(checkedExport)
  await checkMissingBlocks(checkedExport)
  return checkedExport.completeTables.has('ledger') ? checkLedger(checkedExport, onProgress) : 0
}

async function checkLedger(
  checkedExport: CheckedExport,
  onProgress: VerifyContext['onProgress'],
): Promise<number> {
  onProgress('checking ledger arithmetic')
  await checkLedgerRules(checkedExport)
  const { sources, topLevelCalls } = await createExpectedEntries(checkedExport)
  const { findings } = checkedExport
  const before = findings.count
  if (sources.length > 0) await checkLedgerRows(checkedExport, sources)
  // Equal rows have equal totals.
  if (findings.count > before && sources.length === SOURCES.length && hasAtomicFacts(checkedExport))
    await checkTotals(checkedExport)
  return topLevelCalls
}

function noop(): void {}
