import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { convert } from '../../../src/accounting/convert.ts'
import { balances } from '../../../src/ledger/balances/balances.ts'
import { exportDemo } from '../../helpers/demo-export.ts'
import { isMissing } from '../../helpers/programs.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'

const folder = suiteFolder()
const output = join(folder, 'out')
/** An export of a few blocks, where only names matter. */
const smallOutput = join(folder, 'small')

beforeAll(async () => {
  await exportDemo(output)
  await exportDemo(smallOutput, { endBlock: 40 })
})

const run = (program: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28 })
  expect({ args, status, stderr }).toEqual({ args, status: 0, stderr: '' })
  return stdout
}

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

/** Expands the exponent that bean-query writes for small numbers. */
function withoutExponent(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)\.?(\d*)(?:E-(\d+))?$/.exec(number) ?? []
  const digits = (whole + fraction).padStart(Number(exponent) + whole.length + fraction.length, '0')
  const point = digits.length - fraction.length - Number(exponent)
  const text = `${digits.slice(0, point).replace(/^0+(?=\d)/, '') || '0'}.${digits.slice(point)}`
  return plain(`${sign}${text.endsWith('.') ? text.slice(0, -1) : text}`)
}

const plain = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text)

function byWallet(lines: readonly (readonly [account: string, amount: string])[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const [account, amount] of lines) {
    const wallet = account.slice(-8).toLowerCase()
    if (plain(amount) !== '0') found.set(wallet, [...(found.get(wallet) ?? []), plain(amount)].sort())
  }
  return found
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
    run('hledger', '-f', out, 'check', '-s', 'accounts', 'commodities', 'ordereddates')
    expect(run('hledger', '-f', out, 'accounts', '--used').split('\n')).toContain(account)
  })

  test.skipIf(isMissing('ledger')).for(accounts)('by ledger: %s', async (account) => {
    const out = await journalWith('ledger', account)
    expect(run('ledger', '-f', out, '--pedantic', 'accounts').split('\n')).toContain(account)
  })

  const beancountAccounts = ['Expenses:Rent', 'Income:9-a:B', 'Expenses:Ämter']
  test.skipIf(isMissing('bean-check (beancount)')).for(beancountAccounts)(
    'by beancount: %s',
    async (account) => {
      const out = await journalWith('beancount', account)
      run('bean-check', out)
      expect(readFileSync(out, 'utf8')).toContain(`  ${account}  `)
    },
  )
})

describe.skipIf(isMissing('hledger'))('hledger', () => {
  test('accepts the journal in strict mode, and computes the same balances', async () => {
    const { out, omitted } = await journal('hledger')
    expect(omitted).toEqual({})
    run('hledger', '-f', out, 'check', '-s', 'accounts', 'commodities', 'ordereddates')
    const rows = run('hledger', '-f', out, 'bal', 'assets', '-O', 'csv', '--layout=bare', '-N')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => /^"(.*?)","(.*?)","(.*?)"$/.exec(line) ?? [])
      .map(([, account = '', , amount = '']) => [account, amount] as const)
    expect(byWallet(rows)).toEqual(await amountsOf(() => true))
    expect(rows.length).toBeGreaterThan(1_000)
    expect(run('hledger', '-f', out, 'bal', 'equity:own transfers', '-N').trim()).toBe('')
  })
})

describe.skipIf(isMissing('ledger'))('ledger', () => {
  test('accepts the journal, and computes the same balances except for numbers that it cannot read', async () => {
    const { out, omitted } = await journal('ledger')
    expect(Object.keys(omitted)).toEqual(['a number of more than 250 characters'])
    const format = '%(quantity(amount)) %(account)\n'
    const sums = new Map<string, bigint>()
    for (const line of run(
      'ledger',
      '-f',
      out,
      'reg',
      '^assets',
      '--format',
      `%(commodity(amount))\t${format}`,
    )
      .trim()
      .split('\n')) {
      const [, commodity = '', whole = '', fraction = '', account = ''] =
        /^(.*)\t(-?\d+)(?:\.(\d+))? (.*)$/.exec(line) ?? []
      const key = `${account}\t${commodity}`
      sums.set(key, (sums.get(key) ?? 0n) + BigInt(whole + fraction.padEnd(260, '0')))
    }
    const rows = [...sums].map(([key, value]) => {
      const digits = String(value < 0n ? -value : value).padStart(261, '0')
      const text = `${value < 0n ? '-' : ''}${digits.slice(0, -260)}.${digits.slice(-260)}`
      return [key.split('\t')[0] ?? '', text] as const
    })
    const isShort = (text: string) => (plain(text).split('.')[1] ?? '').length <= 100
    expect(byWallet(rows.filter(([, amount]) => isShort(amount)))).toEqual(await amountsOf(isShort))
  })
})

describe.skipIf(isMissing('bean-check (beancount)'))('beancount', () => {
  test('accepts the journal, and computes the same balances except for assets with more than 28 digits', async () => {
    const { out, omitted } = await journal('beancount')
    expect(Object.keys(omitted)).toEqual([expect.stringContaining('28 digits')])
    run('bean-check', out)
    const query = "select account, currency, sum(number) where account ~ '^Assets' group by account, currency"
    const lines = execFileSync('bean-query', ['-f', 'csv', out, query], { encoding: 'utf8' })
      .trim()
      .split('\n')
    const found = new Map(
      lines.slice(1).map((line) => {
        const [account = '', currency = '', number = ''] = line.split(',').map((cell) => cell.trim())
        return [`${account.slice(-8)} ${currency.split('-').at(-1)}`.toLowerCase(), withoutExponent(number)]
      }),
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
