import * as v from 'valibot'
import { ExportError } from '../core/model/errors.ts'
import { MANIFEST_FILE, type Manifest, PRIVATE_FOLDER, REJECTS_FILE } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import { diskError, hashFile } from '../core/platform/disk.ts'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import { type ObjectFolder, openObjectFolder } from '../storage/object-folder.ts'
import { newToken, PLAN_SCHEMA, type Plan } from './plan.ts'
import { parseTextAs, sha256, token } from './schemas.ts'

/**
 * State of a queue run: objects below the output, where all machines see them. It is the only record of what is
 * done; the queue may be lost at any time.
 *
 *     current.json                the current attempt; all others are ignored
 *     <attempt>/plan.json         the job, its wallets and its block range
 *     <attempt>/pages/<token>.pages       pages of wallets, in the format of a checkpoint
 *     <attempt>/reads/<token>.json        what these pages cover, and their hash
 *     <attempt>/proof.json        whether the service had indexed the whole range before the first read
 *     <attempt>/reading.json      the selection of reads for all partitions; written once, when nothing is missing
 *     <attempt>/fees-<hash>.json          the prices that were paid, for a selection of reads
 *     <attempt>/partitions/<token>/       the export of one partition
 *     <attempt>/partitions/<token>.fingerprints   fingerprints of its transactions, compared with other partitions
 *     <attempt>/writes/<token>.json       the partition's range, and the selection it was written from
 *
 * Each execution of a task writes under its own token, its `.json` last, so that nothing is ever overwritten: a late
 * worker adds objects that are never read, or objects of an attempt that is over.
 */
export type RunState = {
  attempt: string
  objects: ObjectFolder
  /** Path of an object of this attempt. */
  at(path: string): string
  /** Hashes of this attempt's files by path. The files never change. */
  verified: Map<string, Promise<string>>
}

/** Folder of the run state in the output. */
export const RUN_STATE_FOLDER = `${PRIVATE_FOLDER}/cluster`

/** Opens the run states of an output. */
export const openRunObjects = (
  output: Pick<Job, 'output' | 'store'>,
  signal?: AbortSignal,
): Promise<ObjectFolder> => openObjectFolder(output, RUN_STATE_FOLDER, signal)

/** The run state of one attempt. */
export function runStateOf(objects: ObjectFolder, attempt: string): RunState {
  return { attempt, objects, at: (path) => `${attempt}/${path}`, verified: new Map() }
}

const CURRENT_FILE = 'current.json'
const CURRENT_SCHEMA = v.strictObject({ attempt: token })
const PLAN_FILE = 'plan.json'

/** The current attempt; undefined if there is none. */
export async function readCurrentAttempt(objects: ObjectFolder): Promise<string | undefined> {
  return parseTextAs(CURRENT_SCHEMA, await objects.readText(CURRENT_FILE))?.attempt
}

/** The plan of an attempt; undefined if there is none that this version can read. */
export async function readPlan({ objects, at, attempt }: RunState): Promise<Plan | undefined> {
  const plan = parseTextAs(PLAN_SCHEMA, await objects.readText(at(PLAN_FILE)))
  return plan?.attempt === attempt ? plan : undefined
}

/** Starts an attempt and removes the state of earlier ones first. */
export async function beginAttempt(objects: ObjectFolder, plan: Plan): Promise<void> {
  await objects.clear()
  await objects.putText(runStateOf(objects, plan.attempt).at(PLAN_FILE), JSON.stringify(plan))
  await objects.putText(CURRENT_FILE, JSON.stringify({ attempt: plan.attempt }))
}

/** Ends an attempt and removes its state. A newer attempt is left untouched. */
export async function endAttempt({ objects, attempt, at }: RunState): Promise<void> {
  if ((await readCurrentAttempt(objects)) === attempt) await objects.clear(CURRENT_FILE)
  await objects.clear(at(''))
}

/** Throws INTERRUPTED if the attempt is no longer the current one. */
export async function requireCurrentAttempt({ objects, attempt }: RunState): Promise<void> {
  if ((await readCurrentAttempt(objects)) !== attempt)
    throw new ExportError('INTERRUPTED', 'the run of this task is over')
}

/**
 * Adds a result to an attempt, which must be the current one before and after. A result that was added too
 * late is removed.
 */
export async function addResult<T>(runState: RunState, add: (token: string) => Promise<T>): Promise<T> {
  await requireCurrentAttempt(runState)
  const added = await add(newToken())
  try {
    await requireCurrentAttempt(runState)
  } catch (error) {
    await runState.objects.clear(runState.at('')).catch(() => undefined)
    throw error
  }
  return added
}

/** The local path of an object. Throws OUTPUT_FAILED if its hash differs from `sha256`. */
export async function verifiedPath(runState: RunState, path: string, sha256: string): Promise<string> {
  const local = await runState.objects.localPath(runState.at(path))
  const hash = runState.verified.get(path) ?? hashOf(runState, path, local)
  runState.verified.set(path, hash)
  if ((await hash) === sha256) return local
  throw new ExportError('OUTPUT_FAILED', `${runState.at(path)} does not match what the run wrote there`)
}

async function hashOf({ at, verified }: RunState, path: string, local: string): Promise<string> {
  try {
    return await hashFile(local)
  } catch (cause) {
    verified.delete(path)
    throw diskError(`cannot read ${at(path)}`, cause)
  }
}

/** Stores the export of a partition, its manifest last. */
export async function putPartition(
  { objects, at }: RunState,
  token: string,
  { folder, manifest, fingerprints }: { folder: string; manifest: Manifest; fingerprints: string },
): Promise<void> {
  await objects.putFile(at(fingerprintsPath(token)), fingerprints)
  const files = Object.values(manifest.tables).flatMap((table) => table.files.map(({ path }) => path))
  const paths = [...files, ...(manifest.rejects > 0 ? [REJECTS_FILE] : []), MANIFEST_FILE]
  for (const path of paths) await objects.putFile(at(partitionPath(token, path)), `${folder}/${path}`)
}

/** Path of the fingerprints of a partition's transactions, within an attempt. */
export const fingerprintsPath = (token: string): string => `partitions/${token}.fingerprints`

/** Path of a file of a partition's export, within an attempt. */
export const partitionPath = (token: string, path: string): string => `partitions/${token}/${path}`

/** What the result of one execution of a task begins with: it is stored under its own token, and bound to an attempt and its plan. */
export const RESULT_FIELDS = { attempt: token, plan: sha256, token }
type TaskResult = { attempt: string; plan: string; token: string }

/** Maximum number of concurrent reads. */
const CONCURRENT_READS = 16

const RESULT_PATH = /\/([0-9a-f]{16})\.json$/

/**
 * The results of one kind of task in an attempt, in a folder of it.
 *
 * @param belongsTo whether a result of this attempt and plan is valid for the plan @default always
 */
export function taskResults<T extends TaskResult>(
  folder: string,
  schema: v.GenericSchema<unknown, T>,
  belongsTo: (plan: Plan, result: T) => boolean = () => true,
) {
  const caches = new WeakMap<RunState, Map<string, Promise<T | undefined>>>()
  const pathOf = ({ at }: RunState, token: string) => at(`${folder}/${token}.json`)
  const pathsIn = ({ objects, at }: RunState) => objects.paths(at(`${folder}/`))
  const load = async (runState: RunState, plan: Plan, path: string): Promise<T | undefined> => {
    const [, name = ''] = RESULT_PATH.exec(path) ?? []
    const result = parseTextAs(schema, await runState.objects.readText(path))
    const isOurs = result?.token === name && result.attempt === plan.attempt && result.plan === plan.sha256
    return isOurs && belongsTo(plan, result) ? result : undefined
  }
  return {
    put: (runState: RunState, result: T) =>
      runState.objects.putText(pathOf(runState, result.token), JSON.stringify(result)),
    /** Number of results in an attempt. */
    count: async (runState: RunState) => (await pathsIn(runState)).length,
    /** The results of an attempt in the order of their tokens. Each of them is read once. */
    list: async (runState: RunState, plan: Plan): Promise<T[]> => {
      const cache = caches.get(runState) ?? new Map<string, Promise<T | undefined>>()
      caches.set(runState, cache)
      const limit = limitConcurrency(CONCURRENT_READS)
      const read = (path: string) => {
        const pending = cache.get(path) ?? limit(() => load(runState, plan, path))
        // A failed read is repeated by the next call.
        pending.catch(() => cache.delete(path))
        cache.set(path, pending)
        return pending
      }
      const paths = [...(await pathsIn(runState))].sort()
      return (await Promise.all(paths.map(read))).flatMap((result) => result ?? [])
    },
    /** Removes the result with this token. */
    remove: (runState: RunState, token: string) => runState.objects.clear(pathOf(runState, token)),
  }
}
