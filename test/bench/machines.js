// Many machines and one quota. Usage: npm run bench -- machines [seconds of the measured quota, default 200]
import { measureSharedQuota } from './machines/shared-quota.js'

export async function benchMachines(seconds = 200) {
  await measureSharedQuota(seconds)
}
