import { bucketLocations } from '../helpers/growing-chain.ts'
import { testInObjectStore } from './in-object-store.ts'

/** Tests of incremental runs, merges and loads, with outputs in an object store instead of folders. */
const FILES = {
  'e2e/border': () => import('../e2e/border.test.ts'),
  'e2e/nightly': () => import('../e2e/nightly.test.ts'),
  'e2e/moved': () => import('../e2e/moved.test.ts'),
  'e2e/partitions': () => import('../e2e/partitions.test.ts'),
  'e2e/compact': () => import('../e2e/compact.test.ts'),
  'e2e/changes': () => import('../e2e/changes.test.ts'),
  'e2e/left-wallets': () => import('../e2e/left-wallets.test.ts'),
  'e2e/another-job': () => import('../e2e/another-job.test.ts'),
  'e2e/settings': () => import('../e2e/settings.test.ts'),
  'e2e/mixed-compression': () => import('../e2e/mixed-compression.test.ts'),
  'load/chain-ids': () => import('../load/chain-ids.test.ts'),
  'load/nightly': () => import('../load/nightly.test.ts'),
}

testInObjectStore(FILES, (radosgw) => {
  bucketLocations.next = radosgw.newLocation
})
