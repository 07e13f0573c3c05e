import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { convert } from '../../../src/accounting/convert.ts'
import { importRowsOf } from '../../../src/accounting/import-rows.ts'
import { beancount } from '../../../src/accounting/journals/beancount.ts'
import type { JournalFormat } from '../../../src/accounting/journals/journal-format.ts'
import { createJournalWriter } from '../../../src/accounting/journals/journal-writer.ts'
import { hledger, ledger } from '../../../src/accounting/journals/plain.ts'
import type { Asset } from '../../../src/accounting/movement.ts'
import type { ConvertOptions } from '../../../src/accounting/options.ts'
import { isMissing } from '../../helpers/programs.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { mistakeFinder } from '../check/mistakes.ts'
import { GOLDEN_CHAIN } from '../golden-chain.ts'
import { COIN, movement, nft, token } from '../made-up.ts'
import { exportMadeUp } from '../made-up-export.ts'

const folder = suiteFolder()
const output = join(folder, 'out')
const mistakesIn = mistakeFinder()

beforeAll(() => exportMadeUp(output, GOLDEN_CHAIN))

const [USDC, WETH, PIECES] = [token('USDC'), token('WETH', 18), token('PIECES', 0)]

const received = (asset: Asset, value: bigint) => movement({ asset, value, isOut: false })
const sent = (asset: Asset, value: bigint) => movement({ asset, value })

/** Writes transactions of one wallet, and returns the text of each. */
function entries(format: JournalFormat, transactions: ReturnType<typeof movement>[][]): string[] {
  const walletDigits = new Map<string, string>()
  const writer = createJournalWriter({ format, walletDigits, refusalReasonOf: () => undefined, onOmitted })
  return transactions.map((movements) => writer.write(importRowsOf(movements, writer.canWriteSwap)))
}

const onOmitted = () => expect.unreachable('nothing is omitted')

const FORMATS = [hledger, ledger, beancount]
const bare = (text: string) => text.replaceAll(/"([^"]*)"/g, '$1')

describe.for(FORMATS)('a swap for $name', (format) => {
  test('has the sent amount as the total price of the received one, and no account on the other side', () => {
    const [text = ''] = entries(format, [[sent(USDC, 500_000_000n), received(WETH, 7n * 10n ** 17n)]])
    expect(bare(text)).toMatch(/ -500(\.0)? USDC-\w+/i)
    expect(bare(text)).toMatch(/ 0\.7 WETH-\w+ @@ 500(\.0)? USDC-\w+/i)
    expect(text).not.toMatch(/equity/i)
  })

  test('is net of refunds, and names the entries and counterparties of all its movements', () => {
    const [paid, refund] = [sent(COIN, 3n * 10n ** 18n), received(COIN, 5n * 10n ** 17n)]
    const [text = ''] = entries(format, [[paid, refund, received(WETH, 1n)]])
    expect(bare(text)).toContain(' -2.5 AVAX')
    expect(text).toContain(`${paid.entry} ${refund.entry}`)
  })

  test('has two accounts for each side if both have the same commodity', () => {
    const sameName = (asset: Asset): Asset => ({
      ...asset,
      symbol: 'SAME',
      digits: 'aaaaaaaa',
      ticker: 'SAME',
    })
    const [text = ''] = entries(format, [[sent(sameName(USDC), 1n), received(sameName(WETH), 1n)]])
    expect(text).not.toContain('@@')
    expect(text).toMatch(/equity:external:in/i)
  })
})

describe.for(FORMATS)('in a journal of an export, $name', ({ name }) => {
  const journalOf = async (options: Partial<ConvertOptions> = {}) => {
    const out = join(folder, `export.${name}`)
    await convert(output, { to: name, out, ...options })
    return readFileSync(out, 'utf8')
  }

  test('--swaps off writes two accounts for each side', async () => {
    expect(await journalOf()).toContain(' @@ ')
    expect(await journalOf({ swaps: 'off' })).not.toContain('@@')
  })

  test('a label for a swap names the account on the other side of both movements', async () => {
    const labels = join(folder, `${name}.csv`)
    writeFileSync(labels, `match,type\n0x${'1'.repeat(40)},Equity:Pool\n`)
    const text = await journalOf({ labels })
    expect(text).not.toMatch(/61\.234567 \S+ @@/)
    expect(text).toMatch(/Equity:Pool {2}2 /)
    expect(text).toMatch(/Equity:Pool {2}-61\.234567 /)
  })

  test('the check finds a price that is not the amount paid, and a commodity that is not declared', async () => {
    const text = await journalOf()
    const mistakes = async (changed: string) => (await mistakesIn(changed, name)).map(({ what }) => what)
    expect(await mistakes(text)).toEqual([])
    const cheaper = text.replace(/ @@ 1\.5 /, ' @@ 1.4 ')
    expect(await mistakes(cheaper)).toEqual([expect.stringContaining('does not balance in')])
    const renamed = text.replace(/ @@ (1\.5) ("?)AVAX/, ' @@ $1 $2AVAXX')
    expect(String(await mistakes(renamed))).toMatch(/commodity "?AVAXX"? is used before it is declared/)
  })
})

/** Amounts whose quotients have no finite decimals. */
const VALUES = [1n, 3n, 7n, 999_999n, 10n ** 18n, 10n ** 25n + 1n, 10n ** 28n - 3n]
const ASSETS = [COIN, USDC, WETH, nft('APE', '7'), PIECES]

const EXTREMES = ASSETS.flatMap((from, at) =>
  ASSETS.slice(at + 1).flatMap((to) =>
    VALUES.flatMap((paid) => VALUES.map((got) => [sent(from, paid), received(to, got)])),
  ),
)

/** The sum of PIECES, which are received for every other asset. */
const PIECES_TOTAL = VALUES.reduce((sum, value) => sum + value) * BigInt(VALUES.length * 4)

/** The output of a program that reads the journal of the extreme swaps. */
function outputOf(format: JournalFormat, program: string, args: readonly string[]): string {
  const file = join(folder, format.name)
  writeFileSync(file, entries(format, EXTREMES).join(''))
  const { status, stdout, stderr } = spawnSync(program, [...args, file], { encoding: 'utf8' })
  expect({ status, stderr: stderr.slice(0, 2_000) }).toEqual({ status: 0, stderr: '' })
  return stdout
}

test.skipIf(isMissing('hledger'))('hledger balances swaps of any amounts, and values them at cost', () => {
  const assets = ['bal', '^assets', '-N', '-O', 'csv', '--layout=bare']
  expect(outputOf(hledger, 'hledger', [...assets, '-f'])).toContain(`"PIECES-50494543","${PIECES_TOTAL}"`)
  expect(outputOf(hledger, 'hledger', [...assets, '-B', '-f'])).toBe('"account","commodity","balance"\n')
})

test.skipIf(isMissing('ledger'))('ledger balances swaps of any amounts, and values them at cost', () => {
  const assets = ['--pedantic', 'bal', '^assets']
  expect(outputOf(ledger, 'ledger', [...assets, '-f'])).toContain(`${PIECES_TOTAL} PIECES-50494543`)
  expect(outputOf(ledger, 'ledger', [...assets, '-B', '-f'])).toBe('')
})

test.skipIf(isMissing('bean-check (beancount)'))('beancount balances swaps of any amounts', () => {
  expect(outputOf(beancount, 'bean-check', [])).toBe('')
})
