import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { initSync, query, validateSource } from '@rustledger/wasm'
import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, test } from 'vitest'
import { convert } from '../../../src/accounting/convert.ts'
import { balances } from '../../../src/ledger/balances/balances.ts'
import { exportDemo } from '../../helpers/demo-export.ts'
import type { TextRow } from '../../helpers/read-output.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'

// Checks the rules of beancount 3 with a WebAssembly implementation, which needs no installed program. journals.test.ts runs
// the programs of version 2.

const folder = suiteFolder()
const output = join(folder, 'out')
let journal = ''

beforeAll(async () => {
  const wasm = createRequire(import.meta.url).resolve('@rustledger/wasm/rustledger_wasm_bg.wasm')
  initSync({ module: readFileSync(wasm) })
  await exportDemo(output)
  await convert(output, { to: 'beancount', out: join(folder, 'demo.beancount') })
  journal = readFileSync(join(folder, 'demo.beancount'), 'utf8')
})

type Row = [account: string, { positions: { units: { number: string; currency: string } }[] }]
type Fraction = { value: bigint; decimals: number }

function fraction(text: string): Fraction {
  const [whole = '', part = ''] = text.split('.')
  return { value: BigInt(whole + part), decimals: part.length }
}

function add(a: Fraction, b: Fraction): Fraction {
  const decimals = Math.max(a.decimals, b.decimals)
  const scaled = ({ value, decimals: own }: Fraction) => value * 10n ** BigInt(decimals - own)
  return { value: scaled(a) + scaled(b), decimals }
}

/** Sums amounts by wallet and contract (all NFTs of a collection together), without sums of zero. */
function sums(lines: readonly (readonly [key: string, amount: string])[]): Record<string, string> {
  const found = new Map<string, Fraction>()
  for (const [key, amount] of lines)
    found.set(key, add(found.get(key) ?? { value: 0n, decimals: 0 }, fraction(amount)))
  const plain = ({ value, decimals }: Fraction) => `${value * 10n ** BigInt(300 - decimals)}`
  return Object.fromEntries(
    [...found].filter(([, { value }]) => value !== 0n).map(([key, one]) => [key, plain(one)]),
  )
}

describe('a journal for beancount', () => {
  test('is valid in beancount 3, and invalid as soon as a posting is changed by one unit', {
    tags: ['long'],
  }, () => {
    expect(validateSource(journal)).toEqual({ valid: true, errors: [] })
    const unbalanced = journal.replace(
      /(\n {2}Expenses:Gas {2}0\.\d+?)(\d) /,
      (_, head, last) => `${head}${(Number(last) + 1) % 10} `,
    )
    expect(unbalanced).not.toBe(journal)
    expect(validateSource(unbalanced)).toMatchObject({ valid: false })
  })

  test('has all balances of the export except omitted ones, with NFTs summed by collection', {
    tags: ['long'],
  }, async () => {
    const sql = 'SELECT account, sum(position) WHERE account ~ "Assets:Crypto" GROUP BY account'
    const { rows } = query(journal, sql) as { rows: Row[] }
    const found = rows.flatMap(([account, { positions }]) =>
      positions.map(({ units: { number, currency } }) => {
        const contract = /-([0-9A-F]{8})$/.exec(currency)?.[1] ?? 'coin'
        return [`${account.slice(-8)} ${contract}`.toLowerCase(), number] as const
      }),
    )
    const listed: TextRow[] = parse(readFileSync(join(folder, 'demo.beancount.omitted.csv')), {
      columns: true,
    })
    const omitted = new Set(listed.map(({ asset_address }) => asset_address))
    const expected = (await balances(output)).balances.flatMap((balance) => {
      const { wallet_address, asset_address, amount, value } = balance
      if (omitted.has(asset_address ?? '')) return []
      const contract = asset_address?.slice(2, 10) ?? 'coin'
      return [[`${wallet_address.slice(2, 10)} ${contract}`, amount ?? String(value)] as const]
    })
    expect(sums(found)).toEqual(sums(expected))
    expect(omitted.size).toBeLessThan(5)
    expect(expected.length).toBeGreaterThan(900)
  })
})
