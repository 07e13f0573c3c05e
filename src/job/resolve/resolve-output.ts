import type { Job } from '../../core/model/model.ts'
import { isBucketUrl, parseBucketUrl, workFolder } from '../../storage/bucket-url.ts'
import { invalidValue } from '../diagnostics.ts'
import type { Values } from './config-sources.ts'
import type { Resolving } from './resolving.ts'

/** Default folder for the private state of outputs in object stores. */
const STATE_FOLDER = '.walletlake-state'

/** Returns the state folder: the option, else WALLETLAKE_STATE_DIR, else a folder in the working directory. */
export function stateFolderOf(option: string | undefined, env: NodeJS.ProcessEnv): string {
  return option ?? (env.WALLETLAKE_STATE_DIR || STATE_FOLDER)
}

/**
 * Adds the object store location to a job whose output is an `s3://` URL. Its `output` becomes the local work folder.
 * Reports store fields of other jobs.
 */
export function resolveStore<J extends Pick<Job, 'output' | 'keepRaw'>>(
  job: J,
  values: Values,
  { stateFolder, report }: Pick<Resolving, 'report'> & { stateFolder: string },
): J & Pick<Job, 'store'> {
  const { output, keepRaw } = values
  const raw = [values['store.endpoint'], values['store.region'], values['store.pathStyle']]
  if (!isBucketUrl(job.output)) {
    if (output !== undefined && !output.raw.isInvalid && IS_URL.test(job.output))
      report(invalidValue(output.raw, 'a folder, or s3://bucket/prefix'))
    for (const storeValue of raw)
      if (storeValue !== undefined && !storeValue.raw.isInvalid)
        report(invalidValue(storeValue.raw, 'no store unless output is s3://bucket/prefix'))
    return job
  }
  const bucket = parseBucketUrl(job.output)
  if (bucket === undefined) {
    if (output !== undefined) report(invalidValue(output.raw, BUCKET_EXPECTED))
    return job
  }
  if (job.keepRaw && keepRaw !== undefined)
    report(invalidValue(keepRaw.raw, 'no raw pages where output is an object store: leave keepRaw out'))
  const [endpoint, region, pathStyle] = [raw[0]?.value, raw[1]?.value, raw[2]?.value]
  const store = { ...bucket, endpoint, region, pathStyle } as NonNullable<Job['store']>
  return { ...job, store, output: workFolder(store, stateFolder) }
}

/** Text that is probably a URL. Two letters are required, because a Windows drive has one. */
const IS_URL = /^[a-z][a-z0-9+.-]+:\//i

const BUCKET_EXPECTED =
  's3://bucket/prefix, the bucket of 3 to 63 of a-z, 0-9, "." and "-", the prefix without empty parts, ? and #'
