import type { Coverage } from '../core/model/manifest.ts'
import type { Movement } from './movement.ts'

/** The blocks that an export contains of a wallet: `fromBlock` inclusive, `toBlock` exclusive. */
type Range = Pick<Coverage, 'fromBlock' | 'toBlock'>

/** The wallets of several exports of one chain, by address. */
export type OwnWallets = ReadonlyMap<string, Range>

/** The wallets of an export and its chain. */
type ChainExport = { chain: string; coverage: readonly Coverage[] }

/** Returns the wallets of all exports of a chain; undefined if there is only one, whose ledger knows its wallets. */
export function ownWalletsOf(chain: string, exports: readonly ChainExport[]): OwnWallets | undefined {
  const ofChain = exports.filter((one) => one.chain === chain)
  if (ofChain.length === 1) return undefined
  return new Map(ofChain.flatMap(({ coverage }) => coverage.map((one) => [one.address, one] as const)))
}

/**
 * Marks transfers between wallets of several exports, which the ledgers of these exports do not know to be own. If the other
 * wallet's export does not contain the block, it has no row of the transfer, which is then one to or from outside.
 */
export function markOwnTransfers(movements: readonly Movement[], wallets: OwnWallets): void {
  for (const movement of movements) {
    if (movement.type !== 'transfer' || movement.counterparty === null) continue
    const range = wallets.get(movement.counterparty)
    if (range !== undefined && isWithin(Number(movement.block), range)) movement.isOwn = true
  }
}

const isWithin = (block: number, { fromBlock, toBlock }: Range) => block >= fromBlock && block < toBlock
