import { OWN } from './dense-items.js'

/** What the services of benchmarks are full of: items as real ones are, and small ones of one shape. */
export const WORLDS = ['dense', 'thin']

/** The wallets of a job that exports `wallet`: in the dense world its owner has others, between which much moves. */
export const ownedWith = (wallet, world) => (world === 'dense' ? [wallet, ...OWN] : [wallet])

/** Of a benchmark's arguments the worlds, all where none is named, and the numbers. */
export function chooseWorlds(args) {
  const named = args.filter((one) => WORLDS.includes(one))
  const numbers = args.filter((one) => !WORLDS.includes(one)).map(Number)
  return { worlds: named.length > 0 ? named : WORLDS, numbers }
}
