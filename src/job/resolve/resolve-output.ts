import type { Job } from '../../core/model/model.ts'
import { isPlace, parsePlace, workFolder } from '../../storage/bucket-url.ts'
import { against } from '../diagnostics.ts'
import type { Values } from './config-sources.ts'
import type { Settling } from './resolving.ts'

/** Where this machine keeps what is private to outputs in object stores, unless it is told another place. */
const STATE_FOLDER = '.walletlake-state'

/** The folder of that: an option, the environment, or one in the working directory. */
export function stateFolderOf(option: string | undefined, env: NodeJS.ProcessEnv): string {
  return option ?? (env.WALLETLAKE_STATE_DIR || STATE_FOLDER)
}

/** The job with its place in an object store, where its output names one. */
export function settleStore<J extends Pick<Job, 'output' | 'keepRaw'>>(
  job: J,
  values: Values,
  { stateFolder, complain }: Pick<Settling, 'complain'> & { stateFolder: string },
): J & Pick<Job, 'store'> {
  const { output, keepRaw } = values
  const given = [values['store.endpoint'], values['store.region'], values['store.pathStyle']]
  if (!isPlace(job.output)) {
    if (output !== undefined && !output.given.isRefused && IS_URL.test(job.output))
      complain(against(output.given, 'a folder, or s3://bucket/prefix'))
    for (const one of given)
      if (one !== undefined && !one.given.isRefused)
        complain(against(one.given, 'output: s3://bucket/prefix beside it'))
    return job
  }
  const place = parsePlace(job.output)
  if (place === undefined) {
    if (output !== undefined) complain(against(output.given, PLACE_EXPECTED))
    return job
  }
  if (job.keepRaw && keepRaw !== undefined)
    complain(against(keepRaw.given, 'no raw pages where output is an object store: leave keepRaw out'))
  const [endpoint, region, pathStyle] = [given[0]?.value, given[1]?.value, given[2]?.value]
  const store = { ...place, endpoint, region, pathStyle } as NonNullable<Job['store']>
  return { ...job, store, output: workFolder(store, stateFolder) }
}

/** What is meant as a URL; a drive of Windows has one letter. */
const IS_URL = /^[a-z][a-z0-9+.-]+:\//i

const PLACE_EXPECTED =
  's3://bucket/prefix, the bucket of 3 to 63 of a-z, 0-9, "." and "-", the prefix without empty parts, ? and #'
