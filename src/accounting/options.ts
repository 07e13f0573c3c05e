import { realpath } from 'node:fs/promises'
import { resolveOutputPath } from '../core/platform/user-file.ts'

/** What is converted, to what, and where to. */
export type ConvertOptions = {
  /** A preset's name: one of `FORMAT_NAMES`. */
  to: string
  /** A file; a folder with `perWallet`, or where the program takes several files. @default `write` takes the text */
  out?: string | undefined
  /** Takes the text where there is no `out`. */
  write?: (text: string) => Promise<void> | void
  /** A file for each wallet. @default false */
  perWallet?: boolean
  /** Leaves out, and lists, movements of tokens that are probably not what they look like. @default false */
  excludeSpam?: boolean
  /** UTC days or instants: from the first on, up to the second; a day counts whole. @default all of it */
  from?: string | undefined
  until?: string | undefined
  /** What the program calls the chain. */
  chainName?: string | undefined
  /** Whether what a wallet swapped becomes one line. @default 'pair' where the preset has such lines */
  swaps?: 'pair' | 'off' | undefined
  /** CSV with the columns match and type: the preset's own types by transaction hash, counterparty or method. */
  labels?: string | undefined
  /**
   * CSV with the columns date, asset, currency and price. What moved is worth the newest price at or before it, at most 36
   * hours old. @default no values in money
   */
  prices?: string | undefined
  /**
   * File that keeps the numbers of unknown assets, for presets that have such placeholders; several exports may share one.
   * @default the export's folder and `.assets.csv`
   */
  map?: string | undefined
}

type InputFiles = Pick<ConvertOptions, 'labels' | 'prices' | 'map'>

/**
 * Where a file of a conversion is written. Throws USAGE where something else than a file stands there, where it is one that the
 * options name, or where it is part of the export itself.
 */
export async function resolveOutputFile(
  path: string,
  output: string,
  { labels, prices, map }: InputFiles,
): Promise<string> {
  const inputs = { '--prices': prices, '--labels': labels, '--map': map ?? (await defaultMapPath(output)) }
  return resolveOutputPath(
    path,
    { inputs, exports: [output] },
    'Name a file, or leave --out away: it goes to stdout.',
  )
}

/** The name of a file that a conversion keeps beside `out`, which may be a folder with a slash behind it. */
export const siblingPath = (out: string, extension: string) => `${out.replace(/[\\/]+$/, '')}.${extension}`

/** The file that keeps the numbers of unknown assets for an export, beside its folder. */
export const defaultMapPath = async (output: string) => `${await realpath(output)}.assets.csv`
