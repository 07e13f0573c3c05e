import { expect, test } from 'vitest'
import { digitsApart } from '../../src/convert/first-digits.ts'
import { createJournalWriter } from '../../src/convert/journal.ts'
import { JOURNALS } from '../../src/convert/journals/index.ts'
import { linesOf } from '../../src/convert/lines.ts'
import { walletNames } from '../../src/convert/wallet-names.ts'
import { COIN, movement } from './made-up.ts'

const [ONE, TWO, THREE] = ['1', '2', '3'].map((end) => `0xdeadbeef${'0'.repeat(31)}${end}`) as [
  string,
  string,
  string,
]

test('wallets are called by their label, and by the address too where two would be called alike', () => {
  const names = walletNames([
    { address: ONE, label: 'sa<v>ings' },
    { address: TWO, label: 'Savings' },
    { address: THREE, label: 'main, A' },
    { address: `0x${'4'.repeat(40)}`, label: null },
    { address: `0x${'5'.repeat(40)}`, label: '\u200b' },
  ])
  expect(Object.fromEntries(names)).toEqual({
    [ONE]: `savings ${ONE}`,
    [TWO]: `Savings ${TWO}`,
    [THREE]: 'main, A',
  })
})

test.for(JOURNALS.map(({ name }) => name))(
  'two wallets whose addresses begin alike have two accounts: %s',
  (name) => {
    const form = JOURNALS.find((one) => one.name === name)
    if (form === undefined) throw new Error(name)
    const writer = createJournalWriter({
      form,
      walletDigits: digitsApart([ONE, TWO]),
      refuses: () => undefined,
      onOmitted: () => undefined,
    })
    const accountOf = (wallet: string) =>
      /(?:account|open) (assets:crypto:.*)\n/i.exec(
        writer.write(
          linesOf([movement({ asset: COIN, value: 1n, wallet })], {
            pairsSwaps: false,
            labelOf: () => undefined,
          }),
        ),
      )?.[1]
    expect(accountOf(ONE)).toMatch(/^assets:crypto:deadbeef$/i)
    expect(accountOf(TWO)).toMatch(/^assets:crypto:deadbeef-2$/i)
  },
)
