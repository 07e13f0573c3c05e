// @module-tag long

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { convert } from '../../../src/accounting/convert.ts'
import { balances } from '../../../src/ledger/balances/balances.ts'
import { exportDemo } from '../../helpers/demo-export.ts'
import { isMissing } from '../../helpers/programs.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { beancountBalances, hledgerBalances, ledgerBalances, runProgram } from '../journal-balances.ts'

const folder = suiteFolder()
const output = join(folder, 'out')
/** An export of a few blocks, where only names matter. */
const smallOutput = join(folder, 'small')

beforeAll(async () => {
  await exportDemo(output)
  await exportDemo(smallOutput, { endBlock: 40 })
})

async function journal(to: string) {
  const out = join(folder, to)
  const { omitted } = await convert(output, { to, out })
  return { out, omitted }
}

/** Lists the amounts of all balances by wallet, sorted. Assets are not compared, because journals name them differently. */
async function amountsOf(isIncluded: (amount: string) => boolean): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  for (const { wallet_address, amount, value } of (await balances(output)).balances) {
    const text = amount ?? String(value)
    if (!isIncluded(text)) continue
    const wallet = wallet_address.slice(2, 10)
    found.set(wallet, [...(found.get(wallet) ?? []), text].sort())
  }
  return found
}

/** Lists the amounts by wallet, whose first digits end the names of accounts, without those of zero. */
function byWallet(found: ReturnType<typeof hledgerBalances>): Map<string, string[]> {
  const amounts = new Map<string, string[]>()
  for (const { account, amount } of found) {
    const wallet = account.slice(-8).toLowerCase()
    if (amount !== '0') amounts.set(wallet, [...(amounts.get(wallet) ?? []), amount].sort())
  }
  return amounts
}

/** Writes a journal in which a label assigns the account to all movements of a method. */
async function journalWith(to: string, account: string): Promise<string> {
  const [out, labels] = [join(folder, `account-${to}`), join(folder, `account-${to}.csv`)]
  writeFileSync(labels, `match,type\n"transfer(address,uint256)","${account}"\n`)
  const converted = await convert(smallOutput, { to, out, labels })
  expect(converted.labels).toEqual({ unmatched: undefined, inapplicable: [] })
  return out
}

describe('accounts assigned by labels are accepted', () => {
  const accounts = ['expenses:my rent', 'Ausgaben:Gebühren (Krypto)', '4000', '=x', '🏠:a b', 'a@5:{6}']

  test.skipIf(isMissing('hledger')).for(accounts)('by hledger: %s', async (account) => {
    const out = await journalWith('hledger', account)
    runProgram('hledger', '-f', out, 'check', '-s', 'accounts', 'commodities', 'ordereddates')
    expect(runProgram('hledger', '-f', out, 'accounts', '--used').split('\n')).toContain(account)
  })

  test.skipIf(isMissing('ledger')).for(accounts)('by ledger: %s', async (account) => {
    const out = await journalWith('ledger', account)
    expect(runProgram('ledger', '-f', out, '--pedantic', 'accounts').split('\n')).toContain(account)
  })

  const beancountAccounts = ['Expenses:Rent', 'Income:9-a:B', 'Expenses:Ämter']
  test.skipIf(isMissing('bean-check (beancount)')).for(beancountAccounts)(
    'by beancount: %s',
    async (account) => {
      const out = await journalWith('beancount', account)
      runProgram('bean-check', out)
      expect(readFileSync(out, 'utf8')).toContain(`  ${account}  `)
    },
  )
})

describe.skipIf(isMissing('hledger'))('hledger', () => {
  test('accepts the journal in strict mode, and computes the same balances', async () => {
    const { out, omitted } = await journal('hledger')
    expect(omitted).toEqual({})
    const found = hledgerBalances(out)
    expect(byWallet(found)).toEqual(await amountsOf(() => true))
    expect(found.length).toBeGreaterThan(1_000)
    expect(runProgram('hledger', '-f', out, 'bal', 'equity:own transfers', '-N').trim()).toBe('')
  })
})

describe.skipIf(isMissing('ledger'))('ledger', () => {
  test('accepts the journal, and computes the same balances except for numbers that it cannot read', async () => {
    const { out, omitted } = await journal('ledger')
    expect(Object.keys(omitted)).toEqual(['a number of more than 250 characters'])
    const isShort = (text: string) => (text.split('.')[1] ?? '').length <= 100
    const found = ledgerBalances(out).filter(({ amount }) => isShort(amount))
    expect(byWallet(found)).toEqual(await amountsOf(isShort))
  })
})

describe.skipIf(isMissing('bean-check (beancount)'))('beancount', () => {
  test('accepts the journal, and computes the same balances except for assets with more than 28 digits', async () => {
    const { out, omitted } = await journal('beancount')
    expect(Object.keys(omitted)).toEqual([expect.stringContaining('28 digits')])
    const found = new Map(
      beancountBalances(out).map(({ account, commodity, amount }) => [
        `${account.slice(-8)} ${commodity.split('-').at(-1)}`.toLowerCase(),
        amount,
      ]),
    )
    const omissions = readFileSync(`${out}.omitted.csv`, 'utf8')
    let checked = 0
    for (const { wallet_address, asset_type, asset_address, amount } of (await balances(output)).balances) {
      const isNft = asset_type === 'erc721' || asset_type === 'erc1155'
      if (isNft || amount === null || omissions.includes(asset_address ?? 'no contract')) continue
      const asset = asset_address?.slice(2, 10) ?? 'avax'
      expect([asset, found.get(`${wallet_address.slice(2, 10)} ${asset}`)]).toEqual([asset, amount])
      checked += 1
    }
    expect(checked).toBeGreaterThan(500)
  })
})
