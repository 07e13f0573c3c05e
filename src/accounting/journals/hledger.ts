import type { JournalFormat } from './journal-format.ts'
import { plainForm } from './plain.ts'

export const hledger: JournalFormat = {
  ...plainForm,
  name: 'hledger',
  title: 'hledger',
  declareCommodity: (commodity, { decimals }) => `commodity 1000.${'0'.repeat(decimals ?? 0)} ${commodity}\n`,
  maxNumberLength: 600,
  numbers: {},
  source: 'hledger 1.25, tested',
  rulesOf: '2026-08-21',
}
