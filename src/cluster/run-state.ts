import * as v from 'valibot'
import { ExportError } from '../core/model/errors.ts'
import { MANIFEST_FILE, type Manifest, PRIVATE_FOLDER, REJECTS_FILE } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import { diskError, hashFile } from '../core/platform/disk.ts'
import { type ObjectFolder, openObjectFolder } from '../storage/object-folder.ts'
import { newToken, PLAN_SCHEMA, type Plan } from './plan.ts'
import { parseTextAs, token } from './schemas.ts'

/**
 * What a run has done so far: objects below the output, where all machines see them. Nothing else is the record: a queue may
 * be lost at any time.
 *
 *     current.json                the attempt that goes on; no other one counts
 *     <attempt>/plan.json         the job, its wallets, the pinned end
 *     <attempt>/pages/<token>.pages       pages of wallets, as in a checkpoint
 *     <attempt>/reads/<token>.json        what these pages cover, and their hash
 *     <attempt>/reading.json      the reads that all partitions are made of; written once, when nothing is missing
 *     <attempt>/partitions/<token>/       the export of one partition
 *     <attempt>/partitions/<token>.fingerprints   its transactions, to be compared with those of other partitions
 *     <attempt>/writes/<token>.json       which partition that is, and what it was made of
 *
 * Every execution of a unit writes under a token of its own and its `.json` last, so that nothing is ever overwritten: a
 * worker that comes late adds objects that nobody reads, or objects of an attempt that is over.
 */
export type RunState = {
  attempt: string
  objects: ObjectFolder
  /** The path of an object of this attempt. */
  at(path: string): string
  /** Hashes of files of this attempt, by path; they never change. */
  verified: Map<string, Promise<string>>
}

/** Where the record lies in the output. */
export const RUN_STATE_FOLDER = `${PRIVATE_FOLDER}/cluster`

/** Opens what an output keeps of runs over a queue. */
export const openRunObjects = (output: Pick<Job, 'output' | 'store'>): Promise<ObjectFolder> =>
  openObjectFolder(output, RUN_STATE_FOLDER)

/** The part of these objects that belongs to an attempt. */
export function runStateOf(objects: ObjectFolder, attempt: string): RunState {
  return { attempt, objects, at: (path) => `${attempt}/${path}`, verified: new Map() }
}

const CURRENT_FILE = 'current.json'
const CURRENT_SCHEMA = v.strictObject({ attempt: token })
const PLAN_FILE = 'plan.json'

/** The attempt that goes on; undefined where there is none. */
export async function readCurrentAttempt(objects: ObjectFolder): Promise<string | undefined> {
  return parseTextAs(CURRENT_SCHEMA, await objects.readText(CURRENT_FILE))?.attempt
}

/** The plan of an attempt; undefined where there is none that this version understands. */
export async function readPlan({ objects, at, attempt }: RunState): Promise<Plan | undefined> {
  const plan = parseTextAs(PLAN_SCHEMA, await objects.readText(at(PLAN_FILE)))
  return plan?.attempt === attempt ? plan : undefined
}

/** Begins an attempt: whatever earlier ones have left goes first. */
export async function beginAttempt(objects: ObjectFolder, plan: Plan): Promise<void> {
  await objects.clear()
  await objects.putText(runStateOf(objects, plan.attempt).at(PLAN_FILE), JSON.stringify(plan))
  await objects.putText(CURRENT_FILE, JSON.stringify({ attempt: plan.attempt }))
}

/** Ends an attempt; one that has begun since stays. */
export async function endAttempt({ objects, attempt, at }: RunState): Promise<void> {
  if ((await readCurrentAttempt(objects)) === attempt) await objects.clear(CURRENT_FILE)
  await objects.clear(at(''))
}

/** Throws RUN_OVER where the attempt does not go on any more. */
export async function requireCurrentAttempt({ objects, attempt }: RunState): Promise<void> {
  if ((await readCurrentAttempt(objects)) !== attempt)
    throw new ExportError('INTERRUPTED', 'the run that this unit belongs to is over')
}

/** Runs what adds to an attempt, before and after which it must go on; what was added too late is removed. */
export async function addResult<T>(runState: RunState, add: (token: string) => Promise<T>): Promise<T> {
  await requireCurrentAttempt(runState)
  const added = await add(newToken())
  try {
    await requireCurrentAttempt(runState)
  } catch (thrown) {
    await runState.objects.clear(runState.at('')).catch(() => undefined)
    throw thrown
  }
  return added
}

/** Where this machine can read an object that is known by its hash. Throws OUTPUT_FAILED where it is another. */
export async function verifiedPath(runState: RunState, path: string, sha256: string): Promise<string> {
  const local = await runState.objects.localPath(runState.at(path))
  const hash = runState.verified.get(path) ?? hashOf(runState, path, local)
  runState.verified.set(path, hash)
  if ((await hash) === sha256) return local
  throw new ExportError('OUTPUT_FAILED', `${runState.at(path)} is not what the run has written there`)
}

async function hashOf({ at, verified }: RunState, path: string, local: string): Promise<string> {
  try {
    return await hashFile(local)
  } catch (cause) {
    verified.delete(path)
    throw diskError(`cannot read ${at(path)}`, cause)
  }
}

/** Keeps the export of a partition. */
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

/** Where the fingerprints of a partition's transactions lie in an attempt. */
export const fingerprintsPath = (token: string): string => `partitions/${token}.fingerprints`

/** Where the export of a partition lies in an attempt. */
export const partitionPath = (token: string, path: string): string => `partitions/${token}/${path}`
