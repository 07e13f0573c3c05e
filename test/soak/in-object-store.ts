import { afterAll, beforeAll, describe } from 'vitest'
import { type Radosgw, startRadosgw } from '../storage/start-radosgw.ts'

/**
 * Registers the tests of these files with an object store server that starts before the first test and stops after the
 * last.
 */
export function testInObjectStore(
  files: Readonly<Record<string, () => Promise<unknown>>>,
  onStart: (radosgw: Radosgw) => void,
): void {
  let radosgw: Radosgw
  beforeAll(async () => {
    radosgw = await startRadosgw()
    onStart(radosgw)
  })
  afterAll(() => radosgw.stop())
  for (const [file, load] of Object.entries(files))
    describe(`in an object store: ${file}`, async () => {
      await load()
    })
}
