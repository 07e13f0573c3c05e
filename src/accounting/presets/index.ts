import type { MultiFileWriter } from '../csv/multi-file-writer.ts'
import type { Preset } from '../csv/preset.ts'
import { bittytax } from './bittytax.ts'
import { blockpit } from './blockpit.ts'
import { coinledger } from './coinledger.ts'
import { coinpanda } from './coinpanda.ts'
import { cointracker } from './cointracker.ts'
import { cointracking } from './cointracking.ts'
import { cryptotaxcalculator } from './cryptotaxcalculator.ts'
import { etherscan } from './etherscan.ts'
import { generic } from './generic.ts'
import { koinly } from './koinly.ts'
import { kryptos } from './kryptos.ts'
import { rotki } from './rotki.ts'
import { rp2 } from './rp2.ts'
import { taxbit } from './taxbit.ts'
import { tokentax } from './tokentax.ts'
import { zenledger } from './zenledger.ts'

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
