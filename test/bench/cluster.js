// Runs over a queue with several workers, and a quota shared by several processes.
// Usage: npm run bench -- machines [seconds of the quota measurement, default 200] [wallets, default 10000]
import { startQueueServer } from '../helpers/queue-server.js'
import { measureHandover } from './cluster/handover.js'
import { measureManyWallets } from './cluster/many-wallets.js'
import { measureSharedQuota } from './cluster/shared-quota.js'

export async function benchCluster(...args) {
  const [seconds = 200, wallets = 10_000] = args.filter((arg) => typeof arg === 'number')
  const server = await startQueueServer()
  try {
    await measureHandover(server.url)
    await measureManyWallets(wallets, server.url)
    if (seconds > 0) await measureSharedQuota(seconds, server.url)
  } finally {
    await server.stop()
  }
}
