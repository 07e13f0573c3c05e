import { realpath } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import type { Job } from '../core/model/model.ts'
import { makeFolder } from '../core/platform/disk.ts'
import { endpointFromEnv } from '../storage/bucket-client.ts'
import { bucketUrl, isBucketUrl, parseBucketUrl } from '../storage/bucket-url.ts'
import type { Destination } from './plan.ts'
import { RUN_STATE_FOLDER } from './run-state.ts'
import type { OpenRun } from './server.ts'

/** Resolves the destination of a job's export to a location that is the same for all machines. */
export async function resolveDestination({ output, store }: Job): Promise<Destination> {
  if (store === undefined) {
    await makeFolder(output)
    return { output: await realpath(output) }
  }
  const { bucket, prefix, region, pathStyle } = store
  const named = { bucket, prefix, endpoint: store.endpoint ?? endpointFromEnv(), region, pathStyle }
  const defined = Object.entries(named).filter(([, value]) => value !== undefined)
  return { output: bucketUrl(store), store: Object.fromEntries(defined) as typeof named }
}

/** Folders or object store locations that a worker is limited to, each including everything below it. */
export type AllowedRoots = readonly string[]

/**
 * Checks the location of a queue entry. An object store must be at this machine's own endpoint, because its
 * credentials are sent there. A folder must be given by its real path, without symbolic links on the way to
 * the run state. Both must be within `roots`.
 *
 * @returns the reason for rejecting the entry; undefined if it is accepted
 */
export async function checkLocation(
  { output, store, attempt }: Pick<OpenRun, 'output' | 'store' | 'attempt'>,
  roots: AllowedRoots = [],
): Promise<string | undefined> {
  if (store !== undefined) {
    if (output !== bucketUrl(store)) return 'its entry in the queue is malformed'
    if (!isSameEndpoint(store.endpoint, endpointFromEnv()))
      return `its object store is at ${store.endpoint ?? 'AWS'}, but this worker's is at ${endpointFromEnv() ?? 'AWS'}: set AWS_ENDPOINT_URL_S3 to the store that this machine should use`
  } else {
    const resolved = await realpath(output).catch(() => undefined)
    if (resolved === undefined)
      return `${output} does not exist here: all machines must see it under the same path`
    if (resolved !== output) return `${output} is not a real path`
    const runState = join(output, RUN_STATE_FOLDER, attempt)
    if ((await realpath(runState).catch(() => runState)) !== runState)
      return `${output} has links in the path of its run state`
  }
  const isWithin = await Promise.all(roots.map((root) => isInside(output, root)))
  return roots.length === 0 || isWithin.some(Boolean)
    ? undefined
    : `${output} is outside of ${roots.join(', ')}, to which this worker is limited (--output)`
}

const isSameEndpoint = (a: string | undefined, b: string | undefined) => normalizeUrl(a) === normalizeUrl(b)

const normalizeUrl = (url: string | undefined) =>
  url === undefined || !URL.canParse(url) ? url : new URL(url).href.replace(/\/+$/, '')

async function isInside(output: string, root: string): Promise<boolean> {
  if (isBucketUrl(output) !== isBucketUrl(root)) return false
  if (isBucketUrl(root)) {
    const bucket = parseBucketUrl(root)
    const name = bucket === undefined ? root : bucketUrl(bucket)
    return output === name || output.startsWith(`${name}/`)
  }
  const real = await realpath(root).catch(() => resolve(root))
  const relativePath = relative(real, output)
  return relativePath === '' || (relativePath !== '..' && !relativePath.startsWith(`..${sep}`))
}
