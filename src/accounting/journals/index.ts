import { beancount } from './beancount.ts'
import { hledger } from './hledger.ts'
import type { JournalFormat } from './journal-format.ts'
import { ledger } from './ledger.ts'

/** All journal formats, in the order of the help. */
export const JOURNALS: readonly JournalFormat[] = [hledger, ledger, beancount]
