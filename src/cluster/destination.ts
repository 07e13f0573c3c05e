import { realpath } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import type { Job } from '../core/model/model.ts'
import { makeFolder } from '../core/platform/disk.ts'
import { ownEndpoint } from '../storage/bucket-client.ts'
import { isPlace, nameOfPlace, parsePlace } from '../storage/bucket-url.ts'
import type { Destination } from './plan.ts'
import { RECORD_FOLDER } from './run-state.ts'
import type { OpenRun } from './server/shared-server.ts'

/** Where a job's export goes, the same from every machine. */
export async function resolveDestination({ output, store }: Job): Promise<Destination> {
  if (store === undefined) {
    await makeFolder(output)
    return { output: await realpath(output) }
  }
  const { bucket, prefix, region, pathStyle } = store
  const named = { bucket, prefix, endpoint: store.endpoint ?? ownEndpoint(), region, pathStyle }
  const known = Object.entries(named).filter(([, value]) => value !== undefined)
  return { output: nameOfPlace(store), store: Object.fromEntries(known) as typeof named }
}

/** Outputs that a worker may be limited to: folders, or places in object stores, each with all below it. */
export type Roots = readonly string[]

/**
 * Why a worker does not touch the place that an entry of the queue names; undefined: it may. An object store is this
 * machine's own one, since its credentials go there; a folder is named by its real path and holds no links on the way to the
 * record; both lie within what the worker is limited to.
 */
export async function refusePlace(
  { output, store, attempt }: Pick<OpenRun, 'output' | 'store' | 'attempt'>,
  roots: Roots = [],
): Promise<string | undefined> {
  if (store !== undefined) {
    if (output !== nameOfPlace(store)) return 'its entry in the queue is malformed'
    if (!isSameEndpoint(store.endpoint, ownEndpoint()))
      return `its object store is at ${store.endpoint ?? 'AWS'}, and this worker's is at ${ownEndpoint() ?? 'AWS'}: set AWS_ENDPOINT_URL_S3 to the store that this machine is to use`
  } else {
    const found = await realpath(output).catch(() => undefined)
    if (found === undefined) return `${output} is not there: all machines must see it under one path`
    if (found !== output) return `${output} is no real path`
    const record = join(output, RECORD_FOLDER, attempt)
    if ((await realpath(record).catch(() => record)) !== record) return `${output} has links in its record`
  }
  const isWithin = await Promise.all(roots.map((root) => liesIn(output, root)))
  return roots.length === 0 || isWithin.some(Boolean)
    ? undefined
    : `${output} lies outside of ${roots.join(', ')}, which this worker is limited to (--output)`
}

const isSameEndpoint = (one: string | undefined, other: string | undefined) => normal(one) === normal(other)

const normal = (url: string | undefined) =>
  url === undefined || !URL.canParse(url) ? url : new URL(url).href.replace(/\/+$/, '')

async function liesIn(output: string, root: string): Promise<boolean> {
  if (isPlace(output) !== isPlace(root)) return false
  if (isPlace(root)) {
    const place = parsePlace(root)
    const name = place === undefined ? root : nameOfPlace(place)
    return output === name || output.startsWith(`${name}/`)
  }
  const real = await realpath(root).catch(() => resolve(root))
  const way = relative(real, output)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`))
}
