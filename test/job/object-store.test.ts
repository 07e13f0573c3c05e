import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expectRefusal, jobOf, LEAST, type Wrong } from './helpers.ts'

const STORED = `${LEAST}output: s3://lake/a/b\n`

test('an output in an object store has a separate local folder for private files', async () => {
  const store = { bucket: 'lake', prefix: 'a/b' }
  expect(await jobOf(STORED)).toMatchObject({ store, output: join('.walletlake-state', 'lake', 'a', 'b') })
  const env = { WALLETLAKE_STATE_DIR: '/var/state' }
  expect(await jobOf(STORED, { env })).toMatchObject({ output: '/var/state/lake/a/b' })
  const overrides = { stateDir: 'mine' }
  expect(await jobOf(STORED, { env, overrides })).toMatchObject({ output: join('mine', 'lake', 'a', 'b') })
})

test('the job sets the store, and the command line overrides the location', async () => {
  const text = `${LEAST}store: { endpoint: "http://h:1", region: eu-1, pathStyle: false }\n`
  const job = await jobOf(text, { overrides: { output: 's3://lake' } })
  const place = { bucket: 'lake', prefix: '', endpoint: 'http://h:1', region: 'eu-1', pathStyle: false }
  expect(job.store).toEqual(place)
})

test.for<Wrong>([
  [
    'a place is misspelt',
    `${LEAST}output: s3:/lake/a\n`,
    'output: found "s3:/lake/a", expected a folder, or s3://bucket/prefix',
  ],
  [
    'another kind of store is named',
    `${LEAST}output: gs://lake/a\n`,
    'output: found "gs://lake/a", expected a folder, or s3://bucket/prefix',
  ],
  [
    'a bucket has no such name',
    `${LEAST}output: s3://Lake_1/a\n`,
    'output: found "s3://Lake_1/a", expected s3://bucket/prefix, the bucket of 3 to 63',
  ],
  [
    'a store is set together with a folder',
    `${LEAST}store: { region: eu-1 }\n`,
    'store.region: found "eu-1", expected no store unless output is s3://bucket/prefix',
  ],
  [
    'an endpoint has credentials',
    `${STORED}store: { endpoint: "http://me:secret@h" }\n`,
    'store.endpoint: found',
  ],
  [
    'a field is misspelt',
    `${STORED}store: { endpont: "http://h" }\n`,
    'expected one of endpoint, region, pathStyle (did you mean "endpoint"?)',
  ],
  [
    'raw pages are kept',
    `${STORED}keepRaw: true\n`,
    'keepRaw: found true, expected no raw pages where output is an object store',
  ],
])('is rejected when %s', expectRefusal)
