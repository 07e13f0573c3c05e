// Many machines and one quota. Usage: npm run bench -- machines [seconds of the measured quota, default 200] [wallets, 10000]
import { measureManyWallets } from './machines/many-wallets.js'
import { measureSharedQuota } from './machines/shared-quota.js'

export async function benchMachines(seconds = 200, wallets = 10_000) {
  await measureManyWallets(wallets)
  if (seconds > 0) await measureSharedQuota(seconds)
}
