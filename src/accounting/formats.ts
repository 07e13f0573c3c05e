import type { MultiFileWriter, Preset } from './csv/preset.ts'
import { beancount } from './journals/beancount.ts'
import type { JournalFormat } from './journals/journal-format.ts'
import { hledger, ledger } from './journals/plain.ts'
import { bittytax } from './presets/bittytax.ts'
import { blockpit } from './presets/blockpit.ts'
import { coinledger } from './presets/coinledger.ts'
import { coinpanda } from './presets/coinpanda.ts'
import { cointracker } from './presets/cointracker.ts'
import { cointracking } from './presets/cointracking.ts'
import { cryptotaxcalculator } from './presets/cryptotaxcalculator.ts'
import { etherscan } from './presets/etherscan.ts'
import { generic } from './presets/generic.ts'
import { koinly } from './presets/koinly.ts'
import { kryptos } from './presets/kryptos.ts'
import { rotki } from './presets/rotki.ts'
import { rp2 } from './presets/rp2.ts'
import { taxbit } from './presets/taxbit.ts'
import { tokentax } from './presets/tokentax.ts'
import { zenledger } from './presets/zenledger.ts'

/** All formats that consist of one CSV file, in the order of the help. */
export const PRESETS: readonly Preset[] = [
  koinly,
  cointracker,
  cointracking,
  cryptotaxcalculator,
  zenledger,
  tokentax,
  coinledger,
  taxbit,
  blockpit,
  coinpanda,
  bittytax,
  kryptos,
  generic,
]

/** All formats that consist of several files. */
export const MULTI_FILE_WRITERS: readonly MultiFileWriter[] = [rotki, rp2, etherscan]

/** All journal formats. */
export const JOURNALS: readonly JournalFormat[] = [hledger, ledger, beancount]

/** The names of all import formats: the valid values of `ConvertOptions.to`. */
export const FORMAT_NAMES: readonly string[] = [...PRESETS, ...MULTI_FILE_WRITERS, ...JOURNALS].map(
  ({ name }) => name,
)

/** Whether a format consists of several files, for which `out` is a folder. */
export const consistsOfFiles = (to: string): boolean => MULTI_FILE_WRITERS.some(({ name }) => name === to)

/** Whether a format has fewer decimals than assets, so that its amounts depend on those before. */
export const roundsAmounts = (to: string): boolean =>
  [...PRESETS, ...MULTI_FILE_WRITERS.flatMap(({ files }) => files)].some(
    ({ name, numbers }) => name === to && numbers.maxDecimals !== undefined,
  )

/** Whether a format may also be written as a workbook. */
export const mayBeWorkbook = (to: string): boolean =>
  PRESETS.some(({ name, isForPeople }) => name === to && isForPeople)

/** Whether the rows of a format name the wallet, or each wallet has files of its own. */
export const namesWallets = (to: string): boolean =>
  !PRESETS.some(({ name, columns }) => name === to && columns.every(([, role]) => role !== 'wallet'))

/** Whether a format is a journal of plain-text accounting. */
export const isJournal = (to: string): boolean => JOURNALS.some(({ name }) => name === to)

/** Whether a format names assets by numbered placeholders. */
export const usesPlaceholders = (to: string): boolean =>
  PRESETS.some(({ name, naming }) => name === to && naming === 'placeholder')

/** Whether a format names tokens by identifiers of its own instead of tickers. */
export const usesIdentifiers = (to: string | undefined): boolean =>
  [...PRESETS, ...MULTI_FILE_WRITERS.flatMap(({ files }) => files)].some(
    ({ name, naming }) => name === to && naming === 'caip',
  )
