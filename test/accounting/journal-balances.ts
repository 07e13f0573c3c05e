import { spawnSync } from 'node:child_process'
import { expect } from 'vitest'

/** The balance of a wallet's account in a commodity, in plain digits. */
type JournalBalance = { account: string; commodity: string; amount: string }

/** Runs a program that must succeed without a message. Returns what it prints. */
export function runProgram(program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28 })
  expect({ args, status, stderr }).toEqual({ args, status: 0, stderr: '' })
  return stdout
}

/** Checks a journal strictly, and returns the balances that hledger computes. */
export function hledgerBalances(journal: string): JournalBalance[] {
  runProgram('hledger', '-f', journal, 'check', '-s', 'accounts', 'commodities', 'ordereddates')
  const [, ...lines] = linesOf(
    runProgram('hledger', '-f', journal, 'bal', '^assets', '-O', 'csv', '--layout=bare', '-N'),
  )
  return lines.map((line) => {
    const [, account = '', commodity = '', amount = ''] = /^"(.*?)","(.*?)","(.*?)"$/.exec(line) ?? []
    return { account, commodity, amount: plainDigits(amount) }
  })
}

/** More decimals than any amount that ledger can read. */
const DECIMALS = 260

/** Sums the postings that ledger reads from a journal. Its own balances have at most as many decimals as it displays. */
export function ledgerBalances(journal: string): JournalBalance[] {
  const format = '%(commodity(amount))\t%(quantity(amount)) %(account)\n'
  const sums = new Map<string, bigint>()
  for (const line of linesOf(
    runProgram('ledger', '-f', journal, '--pedantic', 'reg', '^assets', '--format', format),
  )) {
    const [, commodity = '', whole = '', fraction = '', account = ''] =
      /^(.*)\t(-?\d+)(?:\.(\d+))? (.*)$/.exec(line) ?? []
    const key = `${account}\t${commodity}`
    sums.set(key, (sums.get(key) ?? 0n) + BigInt(whole + fraction.padEnd(DECIMALS, '0')))
  }
  return [...sums].map(([key, value]) => {
    const digits = String(value < 0n ? -value : value).padStart(DECIMALS + 1, '0')
    const amount = `${value < 0n ? '-' : ''}${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`
    const [account = '', commodity = ''] = key.split('\t')
    return { account, commodity, amount: plainDigits(amount) }
  })
}

/** Checks a journal, and returns the balances that beancount computes. The NFTs of a collection are one commodity. */
export function beancountBalances(journal: string): JournalBalance[] {
  runProgram('bean-check', journal)
  // Numbers as text: bean-query rounds them to the decimals that most numbers of the column have.
  const query =
    "select account, currency, str(sum(number)) where account ~ '^Assets' group by account, currency"
  const [, ...lines] = linesOf(runProgram('bean-query', '-f', 'csv', journal, query))
  return lines.map((line) => {
    const [account = '', commodity = '', number = ''] = line.split(',').map((cell) => cell.trim())
    return { account, commodity, amount: withoutExponent(/'(.*)'/.exec(number)?.[1] ?? '') }
  })
}

const linesOf = (text: string) => text.trim().split('\n')

/** Expands the exponent that bean-query writes for small numbers, and for integers that end in many zeros. */
function withoutExponent(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)\.?(\d*)(?:E([+-]\d+))?$/.exec(number) ?? []
  const decimals = fraction.length - Number(exponent)
  const digits = (whole + fraction).padEnd(whole.length + fraction.length - decimals, '0')
  if (decimals <= 0) return `${sign}${digits}`
  const padded = digits.padStart(decimals + 1, '0')
  const text = `${padded.slice(0, -decimals).replace(/^0+(?=\d)/, '')}.${padded.slice(-decimals)}`
  return plainDigits(`${sign}${text}`)
}

/** Removes zeros at the end of the decimals. */
export const plainDigits = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text)
