import { realpath } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import type { Job } from '../core/model/model.ts'
import { makeFolder } from '../core/platform/disk.ts'
import { endpointFromEnv } from '../storage/bucket-client.ts'
import { bucketUrl, isBucketUrl, parseBucketUrl } from '../storage/bucket-url.ts'
import type { Destination } from './plan.ts'
import { RUN_STATE_FOLDER } from './run-state.ts'
import type { OpenRun } from './server/shared-server.ts'

/** Where a job's export goes, the same from every machine. */
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

/** Outputs that a worker may be limited to: folders, or places in object stores, each with all below it. */
export type AllowedRoots = readonly string[]

/**
 * Why a worker does not touch the place that an entry of the queue names; undefined: it may. An object store is this
 * machine's own one, since its credentials go there; a folder is named by its real path and holds no links on the way to the
 * record; both lie within what the worker is limited to.
 */
export async function checkLocation(
  { output, store, attempt }: Pick<OpenRun, 'output' | 'store' | 'attempt'>,
  roots: AllowedRoots = [],
): Promise<string | undefined> {
  if (store !== undefined) {
    if (output !== bucketUrl(store)) return 'its entry in the queue is malformed'
    if (!isSameEndpoint(store.endpoint, endpointFromEnv()))
      return `its object store is at ${store.endpoint ?? 'AWS'}, and this worker's is at ${endpointFromEnv() ?? 'AWS'}: set AWS_ENDPOINT_URL_S3 to the store that this machine is to use`
  } else {
    const resolved = await realpath(output).catch(() => undefined)
    if (resolved === undefined) return `${output} is not there: all machines must see it under one path`
    if (resolved !== output) return `${output} is no real path`
    const runState = join(output, RUN_STATE_FOLDER, attempt)
    if ((await realpath(runState).catch(() => runState)) !== runState)
      return `${output} has links in its record`
  }
  const isWithin = await Promise.all(roots.map((root) => isInside(output, root)))
  return roots.length === 0 || isWithin.some(Boolean)
    ? undefined
    : `${output} lies outside of ${roots.join(', ')}, which this worker is limited to (--output)`
}

const isSameEndpoint = (one: string | undefined, other: string | undefined) =>
  normalizeUrl(one) === normalizeUrl(other)

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
