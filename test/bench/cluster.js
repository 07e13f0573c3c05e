// Runs over a queue with several workers, and a quota shared by several processes.
// Usage: npm run bench -- machines [wallets, default 10000]
//        npm run bench -- processes [seconds of each case, default 200] [words in the name of one case]

import { measureHandover } from './cluster/handover.js'
import { measureManyWallets } from './cluster/many-wallets.js'
import { measureSharedQuota } from './cluster/shared-quota.js'
import { startQueueServer } from './queue-server.js'

export async function benchCluster(...args) {
  const [wallets = 10_000] = args.filter((arg) => typeof arg === 'number')
  const server = await startQueueServer()
  try {
    await measureHandover(server.url)
    await measureManyWallets(wallets, server.url)
  } finally {
    await server.stop()
  }
}

export async function benchSharedQuota(seconds = 200, name = '') {
  const server = await startQueueServer()
  try {
    await measureSharedQuota({ seconds, name, queue: server.url })
  } finally {
    await server.stop()
  }
}
