import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { JOURNALS } from '../../../src/accounting/formats.ts'
import { importRowsOf } from '../../../src/accounting/import-rows.ts'
import { createJournalWriter } from '../../../src/accounting/journals/journal-writer.ts'
import { digitsToDistinguish, walletFileName, walletNamer } from '../../../src/accounting/names/names.ts'
import { openTextFiles } from '../../../src/accounting/text-files.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'
import { COIN, movement } from '../made-up.ts'

const [ONE, TWO, THREE] = ['1', '2', '3'].map((end) => `0xdeadbeef${'0'.repeat(31)}${end}`) as [
  string,
  string,
  string,
]

test('names wallets by label, followed by the address if the label is ambiguous', () => {
  const coverage = [
    { address: ONE, label: 'sa<v>ings' },
    { address: TWO, label: 'Savings' },
    { address: THREE, label: 'main, A' },
    { address: `0x${'4'.repeat(40)}`, label: null },
    { address: `0x${'5'.repeat(40)}`, label: '\u200b' },
    { address: `0x${'6'.repeat(40)}`, label: THREE.toUpperCase() },
    { address: `0x${'7'.repeat(40)}`, label: `0x${'7'.repeat(40)}` },
  ]
  expect(namesOf(coverage)).toEqual([
    `savings ${ONE}`,
    `Savings ${TWO}`,
    'main, A',
    `0x${'4'.repeat(40)}`,
    `0x${'5'.repeat(40)}`,
    `${THREE.toUpperCase()} 0x${'6'.repeat(40)}`,
    `0x${'7'.repeat(40)}`,
  ])
})

test('a wallet of several chains keeps a label that it has on all of them, and its label on each', () => {
  const coverage = [
    { address: ONE, label: 'Savings' },
    { address: ONE, label: 'savings' },
    { address: TWO, label: 'Main' },
    { address: TWO, label: 'Main on Base' },
  ]
  expect(namesOf(coverage)).toEqual(['Savings', 'savings', 'Main', 'Main on Base'])
})

test('leaves out what a program does not accept in names of wallets, and keeps the names different', () => {
  const coverage = [
    { address: ONE, label: 'main, A' },
    { address: TWO, label: 'main A' },
    { address: THREE, label: '50 % fund' },
  ]
  expect(namesOf(coverage, /[,%]/g)).toEqual([`main A ${ONE}`, `main A ${TWO}`, '50 fund'])
})

function namesOf(wallets: { address: string; label: string | null }[], excludedFromWallets?: RegExp) {
  const nameOf = walletNamer(wallets, excludedFromWallets === undefined ? {} : { excludedFromWallets })
  return wallets.map(({ address, label }) => nameOf(address, label))
}

/** Returns a function that finds the declared account of a wallet in a journal. */
function accountFinder(name: string, wallets = [ONE, TWO]) {
  const format = JOURNALS.find((candidate) => candidate.name === name)
  if (format === undefined) throw new Error(name)
  const writer = createJournalWriter({
    format,
    walletDigits: digitsToDistinguish(wallets),
    refusalReasonOf: () => undefined,
    onOmitted: () => undefined,
  })
  return (wallet: string, label: string | null = null) => {
    const moved = movement({ asset: COIN, value: 1n, wallet, label })
    const text = writer.write(importRowsOf([moved]))
    return /(?:account|open) (assets:crypto:.*)\n/i.exec(text)?.[1]
  }
}

test.for(JOURNALS.map(({ name }) => name))(
  'uses different accounts for two wallets with the same first digits in %s',
  (name) => {
    const accountOf = accountFinder(name)
    expect(accountOf(ONE)).toMatch(/^assets:crypto:deadbeef-0001$/i)
    expect(accountOf(TWO)).toMatch(/^assets:crypto:deadbeef-0002$/i)
    expect(accountFinder(name, [TWO, ONE])(ONE)).toMatch(/^assets:crypto:deadbeef-0001$/i)
  },
)

test.for([
  { label: 'a : b', plain: 'a b deadbeef', beancount: 'A-b-deadbeef' },
  { label: '(=) [x]', plain: 'x deadbeef', beancount: 'X-deadbeef' },
  { label: '日本 wallet', plain: '日本 wallet deadbeef', beancount: 'Wallet-deadbeef' },
  { label: '(:)', plain: 'deadbeef', beancount: 'Deadbeef' },
])('turns the label $label into a valid account', ({ label, plain, beancount }) => {
  for (const name of ['hledger', 'ledger'])
    expect(accountFinder(name, [ONE])(ONE, label)).toBe(`assets:crypto:${plain}`)
  expect(accountFinder('beancount', [ONE])(ONE, label)).toBe(`Assets:Crypto:${beancount}`)
})

test('shortens long labels in the names of wallet files', async () => {
  const [out, files] = [tempFolder(), openTextFiles()]
  for (const [wallet, label] of [[ONE, '語'.repeat(256)] as const, [TWO, '𐐷'.repeat(256)] as const])
    files.add(join(out, `${walletFileName({ wallet, label })}.beancount`), 'x')
  await files.finish()
  expect(readdirSync(out).sort()).toEqual([
    `${'語'.repeat(45)}-${ONE}.beancount`,
    `${'𐐷'.repeat(45)}-${TWO}.beancount`,
  ])
})
