import { createHmac } from 'node:crypto'
import * as v from 'valibot'
import { GENERATOR } from '../core/model/version.ts'
import { parseJson } from '../core/platform/json-text.ts'
import { bucketLocation, jobName, parseAs, printableLine, runId, sha256, token, version } from './schemas.ts'
import type { InvalidRun, OpenRun } from './server/shared-server.ts'

const RUN_ENTRY: v.GenericSchema<unknown, OpenRun> = v.pipe(
  v.strictObject({
    id: runId,
    name: jobName,
    attempt: token,
    version,
    output: printableLine,
    store: v.optional(bucketLocation),
    quota: v.pipe(v.string(), v.regex(/^walletlake:quota:[0-9a-f]{32}$/)),
    signature: sha256,
  }),
  v.check(({ id, name, attempt }) => id === `${name}-${attempt}`),
)

/** The part of an entry that all versions share. */
const ANY_VERSION_ENTRY = v.looseObject({ version })

/** Parses the run entries in Redis. Other programs can write there, so the entries are untrusted. */
export function parseRuns(table: { [id: string]: string }): { runs: OpenRun[]; invalid: InvalidRun[] } {
  const runs: OpenRun[] = []
  const invalid: InvalidRun[] = []
  for (const [field, text] of Object.entries(table)) {
    const value = parseJson(text)
    const run = parseAs(RUN_ENTRY, value)
    const id = parseAs(runId, field) ?? 'an entry of the queue'
    const runVersion = parseAs(ANY_VERSION_ENTRY, value)?.version
    if (runVersion !== undefined && runVersion !== GENERATOR)
      invalid.push({ id, reason: versionMismatch(runVersion) })
    else if (run === undefined || run.id !== field)
      invalid.push({ id, reason: 'its entry in the queue is malformed' })
    else runs.push(run)
  }
  return { runs, invalid }
}

const versionMismatch = (runVersion: string) =>
  `it was started by ${runVersion}, but this is ${GENERATOR}: the run and its workers must have the same version`

/**
 * Signs a run entry with an HMAC of the API key, which Redis never sees: write access to Redis alone is not
 * enough to direct workers elsewhere. Without an API key the signature detects accidental changes only;
 * workers then rely on checks of the run state.
 */
export function signRun(run: Omit<OpenRun, 'signature'>, apiKey = ''): string {
  const { id, name, attempt, version, output, store, quota } = run
  const { bucket = '', prefix = '', endpoint = '', region = '', pathStyle = '' } = store ?? {}
  const signed = [id, name, attempt, version, output, quota, bucket, prefix, endpoint, region, pathStyle]
  return createHmac('sha256', `walletlake ${apiKey}`).update(JSON.stringify(signed)).digest('hex')
}
