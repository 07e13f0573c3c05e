import { OWN_WALLETS } from './dense-items.js'

/** What the services of benchmarks are full of: items as real ones are, and small ones of one shape. */
export const DATASETS = ['dense', 'thin']

/** The wallets of a job that exports `wallet`: in the dense world its owner has others, between which much moves. */
export const walletsOfOwner = (wallet, world) => (world === 'dense' ? [wallet, ...OWN_WALLETS] : [wallet])

/** Of a benchmark's arguments the worlds, all where none is named, and the numbers. */
export function chooseDatasets(args) {
  const named = args.filter((one) => DATASETS.includes(one))
  const numbers = args.filter((one) => !DATASETS.includes(one)).map(Number)
  return { datasets: named.length > 0 ? named : DATASETS, numbers }
}
