import type { JournalFormat } from './journal-format.ts'
import { plainForm } from './plain.ts'

export const ledger: JournalFormat = {
  ...plainForm,
  name: 'ledger',
  title: 'ledger',
  declareCommodity: (commodity) => `commodity ${commodity}\n`,
  maxNumberLength: 250,
  numbers: {},
  source: 'ledger 3.3.0, tested',
  rulesOf: '2026-08-21',
}
