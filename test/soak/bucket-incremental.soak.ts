import { bucketLocations } from '../helpers/growing-chain.ts'
import { testInObjectStore } from './in-object-store.ts'

/** Tests of incremental runs, merges and loads, with outputs in an object store instead of folders. */
const FILES = {
  'e2e/late-blocks': () => import('../e2e/late-blocks.test.ts'),
  'e2e/incremental': () => import('../e2e/incremental.test.ts'),
  'e2e/reorged-transactions': () => import('../e2e/reorged-transactions.test.ts'),
  'e2e/partitions': () => import('../e2e/partitions.test.ts'),
  'e2e/compact': () => import('../e2e/compact.test.ts'),
  'e2e/changes': () => import('../e2e/changes.test.ts'),
  'e2e/removed-wallets': () => import('../e2e/removed-wallets.test.ts'),
  'e2e/another-job': () => import('../e2e/another-job.test.ts'),
  'e2e/settings': () => import('../e2e/settings.test.ts'),
  'e2e/mixed-compression': () => import('../e2e/mixed-compression.test.ts'),
  'load/chain-ids': () => import('../load/chain-ids.test.ts'),
  'load/incremental': () => import('../load/incremental.test.ts'),
}

testInObjectStore(FILES, (radosgw) => {
  bucketLocations.next = radosgw.newLocation
})
