import { rmSync } from 'node:fs'
import { basename, dirname, extname } from 'node:path'
import { MANIFEST_FILE } from '../../core/model/manifest.ts'
import type { BucketLocation, Job } from '../../core/model/model.ts'
import { entryAt, isFolder } from '../../core/platform/entry.ts'
import { createScratchFolder } from '../../core/platform/scratch-folder.ts'
import type { TableName } from '../../core/table/index.ts'
import { readJob } from '../../job/read-job.ts'
import { stateFolderOf } from '../../job/resolve/resolve.ts'
import { bucketUrl, isBucketUrl, parseBucketUrl, workFolder } from '../../storage/bucket-url.ts'
import { fetchExport } from '../../storage/fetch-export.ts'
import { usageError } from '../usage-error.ts'

/** The output that an argument names, and the job if the argument is a job file. */
export type LocatedOutput = {
  /** Folder with the export: the output itself, or a copy from an object store that is removed when the process exits. */
  readonly output: string
  /** The output as users name it. */
  readonly name: string
  /** Location in an object store, if the output is there. */
  readonly store: BucketLocation | undefined
  readonly job: Job | undefined
}

/**
 * Opens the output that an argument names: an output folder (or the `manifest.json` in it), an object store location, or
 * a job file, which stands for the output of the job. From an object store, the files of the given tables are downloaded,
 * or all files without `tables`.
 *
 * @throws JOB_INVALID if the job file is invalid
 * @throws USAGE if the folder or file does not exist, and the errors of `fetchExport`
 */
export async function openOutput(outputArg: string, tables?: readonly TableName[]): Promise<LocatedOutput> {
  return fetchIfRemote(await locateOutput(outputArg), tables)
}

/** Opens the outputs of several arguments, each once. */
export async function openOutputs(
  outputArgs: readonly string[],
  tables?: readonly TableName[],
): Promise<LocatedOutput[]> {
  const located: LocatedOutput[] = []
  for (const outputArg of new Set(outputArgs)) located.push(await openOutput(outputArg, tables))
  return located
}

/** Downloads the files of a located output if it is in an object store. */
export async function fetchIfRemote(
  { output, store, job }: Omit<LocatedOutput, 'name'>,
  tables?: readonly TableName[],
): Promise<LocatedOutput> {
  if (store === undefined) return { output, name: output, store, job }
  const copy = await createScratchFolder('fetched')
  process.once('exit', () => rmSync(copy, { recursive: true, force: true }))
  await fetchExport(store, copy, tables)
  return { output: copy, name: bucketUrl(store), store, job }
}

/** Like `openOutput`, without downloading. For an object store, `output` is the local work folder. */
export async function locateOutput(outputArg: string): Promise<Omit<LocatedOutput, 'name'>> {
  if (isBucketUrl(outputArg)) return locateRemoteOutput(outputArg)
  const entry = await entryAt(outputArg)
  if (entry?.isDirectory()) return { output: outputArg, store: undefined, job: undefined }
  if (basename(outputArg) === MANIFEST_FILE)
    return { output: dirname(outputArg), store: undefined, job: undefined }
  if (entry === undefined && !JOB_EXTENSIONS.includes(extname(outputArg)))
    throw usageError(
      `there is no output folder or job file ${outputArg}`,
      'Name the output folder of a run, such as output/mine, or its job file.',
    )
  const job = await readJob(outputArg, { overrides: {}, env: process.env })
  if (job.store === undefined) await requireOutputFolder(job)
  return { output: job.output, store: job.store, job }
}

function locateRemoteOutput(outputArg: string): Omit<LocatedOutput, 'name'> {
  const store = parseBucketUrl(outputArg.replace(/\/manifest\.json$/, ''))
  if (store === undefined)
    throw usageError(
      `${outputArg} is not a valid object store URL`,
      'Name it as s3://bucket/prefix; AWS_ENDPOINT_URL_S3 says where the store is, if it is not AWS.',
    )
  return { output: workFolder(store, stateFolderOf(undefined, process.env)), store, job: undefined }
}

async function requireOutputFolder({ file, output }: Job): Promise<void> {
  if (await isFolder(output)) return
  throw usageError(
    `there is no output folder ${output} of the job ${file}`,
    'Run the job first, or start this in the folder where it was run: output paths are relative to the working folder.',
  )
}

const JOB_EXTENSIONS = ['.yaml', '.yml', '.json']
