import type { JournalForm } from './journal-format.ts'
import { plainForm } from './plain.ts'

export const hledger: JournalForm = {
  ...plainForm,
  name: 'hledger',
  title: 'hledger',
  declareCommodity: (commodity, { decimals }) => `commodity 1000.${'0'.repeat(decimals ?? 0)} ${commodity}\n`,
  longestNumber: 600,
  numbers: {},
  source: 'hledger 1.25, tested',
  rulesOf: '2026-08-21',
}
