import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exportMadeUp } from '../made-up-export.ts'
import { ANN } from '../made-up-transactions.ts'
import { AUSDC, ON_AVALANCHE, ON_ETHEREUM, STETH } from './world.ts'

/** Exports both chains of the person, and writes what she declares: what grew without an event. */
export async function exportPerson(folder: string) {
  const outputs = [join(folder, 'ethereum'), join(folder, 'avalanche')] as const
  const transactionsOf = (bookings: typeof ON_ETHEREUM) => bookings.map(({ transaction }) => transaction)
  await exportMadeUp(outputs[0], transactionsOf(ON_ETHEREUM), '1', { nativeSymbol: 'ETH' })
  await exportMadeUp(outputs[1], transactionsOf(ON_AVALANCHE), '43114')
  const adjustments = join(folder, 'adjustments.csv')
  const lines = [
    `2024-01-05T00:00:00Z,1,${ANN},erc20,${STETH.address},,0.03,rebase`,
    `2024-01-20T00:00:00Z,43114,${ANN},erc20,${AUSDC.address},,3,interest`,
  ]
  const header = 'time,chain,wallet_address,asset_type,asset_address,token_id,amount,type'
  writeFileSync(adjustments, [header, ...lines, ''].join('\n'))
  return { outputs, adjustments }
}
