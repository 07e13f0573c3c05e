import type { JournalForm } from './journal-format.ts'
import { plainForm } from './plain.ts'

export const ledger: JournalForm = {
  ...plainForm,
  name: 'ledger',
  title: 'ledger',
  declareCommodity: (commodity) => `commodity ${commodity}\n`,
  longestNumber: 250,
  numbers: {},
  source: 'ledger 3.3.0, tested',
  rulesOf: '2026-08-21',
}
