import { beancount } from './beancount.ts'
import { hledger } from './hledger.ts'
import type { JournalForm } from './journal-format.ts'
import { ledger } from './ledger.ts'

/** All journals, in the order of the help. */
export const JOURNALS: readonly JournalForm[] = [hledger, ledger, beancount]
