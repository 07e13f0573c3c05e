import { OWN_WALLETS } from './dense-items.js'

/** Datasets of the synthetic service: realistic items, and small uniform ones. */
export const DATASETS = ['dense', 'thin']

/**
 * Wallets of a job that exports `wallet`. In the dense dataset, its owner has more wallets with transfers between them.
 */
export const walletsOfOwner = (wallet, dataset) => (dataset === 'dense' ? [wallet, ...OWN_WALLETS] : [wallet])

/** Splits the arguments of a benchmark into datasets (all if none is named) and numbers. */
export function chooseDatasets(args) {
  const named = args.filter((one) => DATASETS.includes(one))
  const numbers = args.filter((one) => !DATASETS.includes(one)).map(Number)
  return { datasets: named.length > 0 ? named : DATASETS, numbers }
}
