import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, test } from 'vitest'
import { convert } from '../../src/accounting/convert.ts'
import { pricesNeeded, tickersNeeded } from '../../src/accounting/needed.ts'
import type { ConvertOptions } from '../../src/accounting/options.ts'
import type { Outputs } from '../../src/accounting/sources.ts'
import { statement } from '../../src/accounting/statement/statement.ts'
import { findUnmatchedLines } from '../../src/accounting/unmatched-lines.ts'
import type { JsonObject } from '../../src/demo-server/json.ts'
import { runCommand } from '../helpers/command.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'
import { GOLDEN_CHAIN, GOLDEN_PRICES } from './golden-chain.ts'
import { exportMadeUp } from './made-up-export.ts'
import { ANN, address, BEN, createChain, WALLETS } from './made-up-transactions.ts'

const folder = suiteFolder()
const at = (name: string) => join(folder, name)
const [BOTH, OF_ANN, OF_BEN, ETHEREUM] = ['both', 'ann', 'ben', 'ethereum'].map(at) as [
  string,
  string,
  string,
  string,
]

const FRIEND = address('3')
/** On both chains, and a contract on Ethereum alone that has the same first digits. */
const SHARE = { address: address('e'), name: 'Vault share', symbol: 'vUSDC', decimals: 6 }
const OTHER_SHARE = { ...SHARE, address: `${SHARE.address.slice(0, -1)}0` }
/** Dollars with other decimals than those of the C-Chain. */
const USDC = { address: address('f'), name: 'USD Coin', symbol: 'USDC', decimals: 24 }
const UNIT = 10n ** 24n

/** Transactions at the times of the other chain, and between them. */
function ethereumChain(): JsonObject[] {
  const { transaction, erc20 } = createChain()
  return [
    transaction(
      { at: '2024-01-01T00:00:00Z', parties: [FRIEND, ANN] },
      { erc20: [erc20(USDC, [FRIEND, ANN], 5_000n * UNIT)] },
    ),
    transaction({ at: '2024-02-29T12:00:05Z', parties: [ANN, BEN], value: 3n }),
    transaction(
      { at: '2024-03-01T12:00:00Z', parties: [FRIEND, ANN] },
      {
        erc20: [
          erc20(SHARE, [FRIEND, ANN], 7n),
          erc20(OTHER_SHARE, [FRIEND, ANN], 8n),
          erc20(USDC, [FRIEND, ANN], 1n),
        ],
      },
    ),
  ].map(({ nativeTransaction, ...entries }) => ({
    nativeTransaction: { ...nativeTransaction, chainId: '1' },
    ...entries,
  }))
}

beforeAll(async () => {
  const [ann, ben] = WALLETS.map((wallet) => [wallet])
  await exportMadeUp(BOTH, GOLDEN_CHAIN, '43114')
  await exportMadeUp(OF_ANN, GOLDEN_CHAIN, '43114', { wallets: ann })
  await exportMadeUp(OF_BEN, GOLDEN_CHAIN, '43114', { wallets: ben })
  await exportMadeUp(ETHEREUM, ethereumChain(), '1', { nativeSymbol: 'ETH', wallets: ann })
  writeFileSync(at('prices.csv'), GOLDEN_PRICES)
  const coins = ['2024-01-01', '2024-02-29', '2024-03-01'].map((day) => `${day},ethereum,native,USD,3`)
  writeFileSync(at('coin-of-ethereum.csv'), ['date,chain,asset,currency,price', ...coins, ''].join('\n'))
  const tickers = [`43114,${address('c')},USD`, `1,${USDC.address},USD`]
  writeFileSync(
    at('opening.csv'),
    `wallet_address,asset_type,asset_address,token_id,value\n${ANN},native,,,1\n`,
  )
  writeFileSync(at('tickers.csv'), `chain,contract,ticker\n${tickers.join('\n')}\n`)
})

type Row = Record<string, string>

/** Converts to one file, and returns its rows. */
async function rowsOf(outputs: Outputs, to: string, options: Partial<ConvertOptions> = {}): Promise<Row[]> {
  const chunks: string[] = []
  await convert(outputs, { to, write: (text) => void chunks.push(text), ...options })
  return parse(chunks.join(''), { columns: true })
}

function textOf(path: string): string {
  if (!statSync(path).isDirectory()) return readFileSync(path, 'utf8')
  const names = readdirSync(path).sort()
  return names.map((name) => `==> ${name}\n${readFileSync(join(path, name), 'utf8')}`).join('')
}

describe('two outputs of one chain with one wallet each', () => {
  testSample(
    3,
    ['koinly', 'rp2', 'beancount', 'tokentax', 'generic', 'rotki'],
    'become the file for %s of an output with both wallets',
    async (to) => {
      const [expected, found] = [at(`both-${to}`), at(`parts-${to}`)]
      const options = { to, map: at('numbers.csv'), prices: at('prices.csv') }
      const whole = await convert(BOTH, { ...options, out: expected })
      const { files, omittedFile, ...parts } = await convert([OF_BEN, OF_ANN], { ...options, out: found })
      expect(textOf(found)).toBe(textOf(expected))
      expect(parts).toEqual({
        movements: whole.movements,
        lines: whole.lines,
        merged: whole.merged,
        split: whole.split,
        placeholders: whole.placeholders,
        bridges: [],
        omitted: whole.omitted,
        staleFiles: [],
        ledgerTimeRange: undefined,
        opening: whole.opening,
        adjustments: whole.adjustments,
        unpriced: whole.unpriced,
        labels: whole.labels,
      })
    },
  )

  test('need the prices of an output with both wallets', async () => {
    expect(await pricesNeeded([OF_ANN, OF_BEN])).toEqual(await pricesNeeded(BOTH))
  })

  test('state the last price of each day, which journals value the day at', async () => {
    const prices = at('four-a-day.csv')
    const times = ['00:00:00', '08:00:00', '16:00:00', '20:00:00']
    const lines = ['3', '1', '2', '1'].map((price, n) => `2024-03-01T${times[n]}Z,native,USD,${price}`)
    writeFileSync(prices, ['date,asset,currency,price', ...lines.toReversed(), ''].join('\n'))
    const chunks: string[] = []
    const options = { to: 'hledger', prices, write: (text: string) => void chunks.push(text) }
    await convert([OF_ANN, OF_BEN], options)
    expect(chunks.join('').match(/^P .*$/gm)).toEqual(['P 2024-03-01 "AVAX" 1 USD'])
  })
})

/** A token that was renamed. */
const GIFT = address('9')

describe('two outputs of one chain', () => {
  const { transaction, erc20 } = createChain()
  const share = erc20(SHARE, [FRIEND, ANN], 5n)
  const gift = (symbol: string, receiver: string) =>
    erc20({ ...SHARE, address: GIFT, symbol }, [FRIEND, receiver], 5n)
  const transfers = [
    transaction({ at: '2024-01-01T00:00:00Z', parties: [FRIEND, ANN], value: 30n }),
    transaction({ at: '2024-01-02T00:00:00Z', parties: [FRIEND, BEN], value: 1n }),
    transaction({ at: '2024-01-03T00:00:00Z', parties: [ANN, BEN], value: 7n }),
    transaction({ at: '2024-01-04T00:00:00Z', parties: [ANN, BEN], value: 8n }, { erc20: [share] }),
    transaction({ at: '2024-01-05T00:00:00Z', parties: [FRIEND, ANN] }, { erc20: [gift('claim me', ANN)] }),
    transaction({ at: '2024-01-06T00:00:00Z', parties: [FRIEND, BEN] }, { erc20: [gift('GIFT', BEN)] }),
  ]
  const [ann, ben] = WALLETS.map((wallet) => [wallet])
  const [whole, ofAnn, ofBen, untilDayTwo] = ['transfers', 'ann-7', 'ben-7', 'ben-0'].map(at) as [
    ...[string, string, string, string],
  ]

  beforeAll(async () => {
    await exportMadeUp(whole, transfers)
    await exportMadeUp(ofAnn, transfers, 'made', { wallets: ann })
    await exportMadeUp(ofBen, transfers, 'made', { wallets: ben })
    const endBlock = Number(transfers[1]?.nativeTransaction.blockNumber) + 1
    await exportMadeUp(untilDayTwo, transfers, 'made', { wallets: ben, endBlock })
  })

  test('have own transfers between their wallets in statements', async () => {
    const { lines } = await statement([ofAnn, ofBen], { year: '2024' })
    expect(lines).toEqual((await statement([whole], { year: '2024' })).lines)
  })

  test('have the same spam tokens, whichever of them has the name that is flagged', {
    tags: ['long'],
  }, async () => {
    const options = { excludeSpam: true }
    expect(JSON.stringify(await rowsOf([ofAnn, ofBen], 'generic'))).toContain(GIFT)
    expect(await rowsOf([ofAnn, ofBen], 'generic', options)).toEqual(await rowsOf(whole, 'generic', options))
    const needed = [
      await rowsOf([ofBen, ofAnn], 'generic', options),
      await pricesNeeded([ofBen, ofAnn], options),
      await tickersNeeded([ofBen, ofAnn], options),
    ]
    expect(JSON.stringify(needed)).not.toContain(GIFT)
  })

  test('have payments to others if the output of the other wallet ends before them', async () => {
    const typesIn = async (outputs: Outputs) => {
      const rows = await rowsOf(outputs, 'generic')
      return rows.filter(({ sent_amount }) => sent_amount?.endsWith('7')).map(({ type }) => type)
    }
    expect(await typesIn([ofAnn, ofBen])).toEqual(['own out'])
    expect(await typesIn([ofAnn, untilDayTwo])).toEqual(['out'])
  })
})

describe('outputs of two chains', () => {
  test('become one file in the order of time, then of chain ids, and each line names its chain', async () => {
    const rows = await rowsOf([BOTH, ETHEREUM], 'generic')
    const orderOf = ({ date, chain = '' }: Row) => `${date} ${chain.padStart(5)}`
    expect(rows.map(orderOf)).toEqual(rows.map(orderOf).sort())
    const chainOf = ({ note }: Row) => / \/ chain ([^/]+) \/ tx /.exec(note ?? '')?.[1]
    expect(rows.map(chainOf)).toEqual(
      rows.map(({ chain }) => (chain === '1' ? 'Ethereum' : 'Avalanche C-Chain')),
    )
    const idsOf = (some: Row[]) => some.map(({ entry_id }) => entry_id).sort()
    const apart = [...(await rowsOf(BOTH, 'generic')), ...(await rowsOf(ETHEREUM, 'generic'))]
    expect(idsOf(rows)).toEqual(idsOf(apart))
    expect(apart.map(chainOf)).not.toContain('Ethereum')
    expect(await rowsOf([ETHEREUM, BOTH], 'generic')).toEqual(rows)
  })

  test.for([
    { to: 'hledger', tag: '; time:12:00:05, chain:Ethereum\n' },
    { to: 'beancount', tag: '  time: "12:00:05"\n  chain: "Ethereum"\n' },
  ])('name the chain of each entry: $to', async ({ to, tag }) => {
    const chunks: string[] = []
    await convert([BOTH, ETHEREUM], { to, write: (text) => void chunks.push(text) })
    expect(chunks.join('')).toContain(tag)
  })

  test('have different names for contracts with the same first digits, and one for the same contract', async () => {
    const rows = await rowsOf([BOTH, ETHEREUM], 'generic')
    const names = (contract: string) =>
      rows.flatMap(({ received_contract, received_asset }) =>
        received_contract === contract ? received_asset : [],
      )
    expect(new Set(names(SHARE.address))).toEqual(new Set(['vUSDC-eeeeeeee-eeee']))
    expect(names(OTHER_SHARE.address)).toEqual(['vUSDC-eeeeeeee-eee0'])
  })

  test('have a placeholder of its own for each asset of each chain, which later conversions keep', async () => {
    const map = at('two-chains.csv')
    const first = await rowsOf([BOTH, ETHEREUM], 'koinly', { map })
    const numbers = parse<Row>(readFileSync(map, 'utf8'), { columns: true })
    const shares = numbers.filter(({ asset_address }) => asset_address === SHARE.address)
    expect(shares.map(({ chain_id }) => chain_id)).toEqual(['43114', '1'])
    expect(new Set(numbers.map(({ placeholder }) => placeholder)).size).toBe(numbers.length)
    expect(first).toContainEqual(
      expect.objectContaining({
        'Received Amount': '0.000007',
        'Received Currency': shares[1]?.placeholder,
      }),
    )
    expect(await rowsOf([ETHEREUM, BOTH], 'koinly', { map })).toEqual(first)
  })

  test('a file of numbers without chains does not fit', async () => {
    const map = at('old.csv')
    writeFileSync(
      map,
      `placeholder,asset_type,asset_address,token_id,name\nNULL1,erc20,${SHARE.address},,x\n`,
    )
    await expect(rowsOf([BOTH, ETHEREUM], 'koinly', { map })).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('chain_id'),
    })
  })

  test('merge equal lines although the decimals of the tokens differ', async () => {
    const rows = await rowsOf([BOTH, ETHEREUM], 'tokentax', { tickers: at('tickers.csv') })
    const deposits = rows.filter(
      ({ Date: date, Type }) => date === '01/01/2024 00:00:00' && Type === 'Deposit',
    )
    expect(deposits).toMatchObject([
      { BuyAmount: '10000', BuyCurrency: 'USD', Comment: expect.stringMatching(/sum of 2 equal lines$/) },
    ])
  })

  test('leave an asset out whose sum over all chains has too many digits', async () => {
    const refusals = async (outputs: Outputs) => {
      const options = { to: 'beancount', tickers: at('tickers.csv'), write: () => {} }
      return (await convert(outputs, options)).omitted['more than 28 digits, which beancount rounds'] ?? 0
    }
    const [apart, ofEthereum] = [await refusals(BOTH), await refusals(ETHEREUM)]
    expect(ofEthereum).toBe(0)
    expect(await refusals([BOTH, ETHEREUM])).toBeGreaterThan(apart)
  })

  test('become one file per wallet, whatever the chain', async () => {
    const { files } = await convert([BOTH, ETHEREUM], { to: 'generic', perWallet: true, out: at('wallets') })
    const ofAnn = files.filter((file) => file.includes(ANN))
    expect(ofAnn).toHaveLength(1)
    const rows = parse<Row>(ofAnn.map(textOf).join(''), { columns: true })
    expect(new Set(rows.map(({ chain }) => chain))).toEqual(new Set(['1', '43114']))
  })

  test('name files of wallets that are in the folder, but not of the conversion', async () => {
    const options = { to: 'cointracker', perWallet: true, out: at('folder') }
    const all = await convert(BOTH, options)
    expect(all.staleFiles).toEqual([])
    writeFileSync(join(options.out, 'notes.csv'), '')
    const { files, staleFiles } = await convert(ETHEREUM, options)
    expect(new Set([...files, ...staleFiles])).toEqual(new Set(all.files))
    expect(staleFiles).toEqual([expect.stringMatching(`-${BEN}.csv$`)])
    const words = ['convert', ETHEREUM, '--to', options.to, '--per-wallet', '--out', options.out]
    const { stderr } = await runCommand(words)
    expect(stderr).toMatch(/became \d+ lines for cointracker: [^,\n]+\n/)
    expect(stderr).toContain(`listed in ${options.out}.omitted.csv\n`)
    expect(stderr).toContain(`1 file of an earlier conversion is still in ${options.out}, do not import: `)
  })

  test.for([
    { to: 'ledger', declared: /^account (.+)$/gm, used: /^ {4}(\S.*?) {2}/gm },
    { to: 'beancount', declared: /^1970-01-01 open (.+)$/gm, used: /^ {2}([A-Z]\S*) {2}/gm },
  ])('become a journal for each label of a wallet, which declares its accounts: $to', async (format) => {
    const { to, declared, used } = format
    const relabelled = at('relabelled')
    const wallets = [{ address: ANN, label: 'Ledger Nano' }]
    await exportMadeUp(relabelled, ethereumChain(), '1', { nativeSymbol: 'ETH', wallets })
    const { files } = await convert([BOTH, relabelled], { to, perWallet: true, out: at(`labels-${to}`) })
    expect(files.filter((file) => file.includes(ANN))).toHaveLength(2)
    for (const text of files.map(textOf)) {
      const found = (pattern: RegExp) => new Set([...text.matchAll(pattern)].map(([, account]) => account))
      expect(found(declared)).toEqual(found(used))
    }
  })

  test('do not make own transfers of payments to a wallet of the other chain only', async () => {
    const rows = await rowsOf([OF_BEN, ETHEREUM], 'generic')
    expect(rows.filter(({ chain, type }) => chain === '1' && type?.includes('out'))).toMatchObject([
      { type: 'out', from_address: ANN, to_address: BEN },
    ])
  })

  describe('with prices', () => {
    const prices = at('prices-of-chains.csv')
    const priceOn = (chain = '') => (chain === '1' ? '3' : '2')

    test('share a list of them to fill in, with a line per chain', async () => {
      const needed = await pricesNeeded([BOTH, ETHEREUM])
      const apart = [...(await pricesNeeded(BOTH)), ...(await pricesNeeded(ETHEREUM))]
      const linesOf = (lines: typeof needed) =>
        lines.map(({ date, chain, asset }) => `${date} ${chain} ${asset}`)
      expect(linesOf(needed)).toEqual(linesOf(apart).sort())
      const lines = needed.map(({ date, chain, asset }) => `${date},${chain},${asset},USD,${priceOn(chain)}`)
      writeFileSync(prices, ['date,chain,asset,currency,price', ...lines, ''].join('\n'))
      expect(await pricesNeeded([BOTH, ETHEREUM], { prices })).toEqual([])
    })

    test('value each movement at the price of its chain, and become files for rp2', async () => {
      const out = at('rp2-of-chains')
      const { omitted, unpriced } = await convert([BOTH, ETHEREUM], { to: 'rp2', out, prices })
      expect([omitted['there is no price'], unpriced]).toEqual([undefined, {}])
      const rows = ['in', 'out'].flatMap((name) =>
        parse<Row>(textOf(join(out, `${name}.csv`)), { columns: true }),
      )
      const chainOf = ({ notes }: Row) => (notes?.includes('/ chain Ethereum /') ? '1' : '43114')
      expect(new Set(rows.map(chainOf))).toEqual(new Set(['1', '43114']))
      for (const row of rows) expect(row.spot_price).toBe(priceOn(chainOf(row)))
      const moved = parse<Row>(textOf(join(out, 'intra.csv')), { columns: true })
      expect(moved.map(({ spot_price }) => spot_price)).toContain(priceOn('43114'))
    })

    test('have price directives for the assets of each chain', async () => {
      const chunks: string[] = []
      const options = { to: 'hledger', prices, write: (text: string) => void chunks.push(text) }
      await convert([BOTH, ETHEREUM], options)
      expect(chunks.join('')).toMatch(/^P \d{4}-\d\d-\d\d "ETH" 3 USD$/m)
      expect(chunks.join('')).toMatch(/^P \d{4}-\d\d-\d\d "AVAX" 2 USD$/m)
    })
  })

  test('name the chain of each movement that is left out', async () => {
    const { omittedFile = '' } = await convert([BOTH, ETHEREUM], {
      to: 'rp2',
      out: at('unpriced'),
      prices: at('coin-of-ethereum.csv'),
    })
    const reasons = parse<Row>(textOf(omittedFile), { columns: true }).map(
      ({ chain_id, asset_type, reason }) => [chain_id, asset_type, reason].join(),
    )
    expect(reasons).toContain('43114,native,there is no price')
    expect(reasons).toContain('1,erc20,there is no price')
    expect(reasons).not.toContain('1,native,there is no price')
  })

  test('share a list of tickers to fill in', async () => {
    const lines = await tickersNeeded([BOTH, ETHEREUM])
    const ofShare = lines.filter(({ contract }) => contract === SHARE.address)
    expect(ofShare.map(({ chain }) => chain).sort()).toEqual(['1', '43114'])
  })
})

describe('a file of opening balances for several outputs', () => {
  const HEADER = 'chain,wallet_address,asset_type,asset_address,token_id,value'
  const openingsOf = async (outputs: Outputs, ...lines: string[]) => {
    writeFileSync(at('openings.csv'), [HEADER, ...lines, ''].join('\n'))
    const rows = await rowsOf(outputs, 'generic', { opening: at('openings.csv') })
    const cells = rows.map((row) => Object.values(row).slice(1, 4))
    return cells.flatMap(([type, amount, asset]) => (type === 'opening' ? [`${amount} ${asset}`] : [])).sort()
  }

  test('gives each chain its lines', async () => {
    const opened = await openingsOf(
      [BOTH, ETHEREUM],
      `avalanche,${ANN},native,,,1000000000000000000`,
      `1,${ANN},native,,,2000000000000000000`,
      `137,${ANN},native,,,3000000000000000000`,
    )
    expect(opened).toEqual(['1 AVAX', '2 ETH'])
  })

  test('gives each output of one chain the lines of its wallets, without a chain', async () => {
    const opened = await openingsOf(
      [OF_ANN, OF_BEN],
      `,${ANN},native,,,1000000000000000000`,
      `,${BEN},native,,,2000000000000000000`,
      `,${BEN},erc20,0x${'c'.repeat(40)},,`,
    )
    expect(opened).toEqual(['1 AVAX', '2 AVAX'])
  })
})

describe('several outputs are refused', () => {
  const bothChains = [BOTH, ETHEREUM] as const
  const out = at('refused')

  test.for([
    {
      what: 'with a wallet in two of them',
      outputs: [BOTH, OF_ANN] as const,
      options: { to: 'generic' },
      message: `contain wallet ${ANN} on chain 43114`,
      fix: 'leave out one of the exports',
    },
    {
      what: 'with a price for two chains',
      options: { to: 'generic', prices: at('prices.csv') },
      message: 'prices.csv:2: found a price without a chain, but these exports are of chains 43114 and 1',
      fix: 'Name the chain of each price',
    },
    {
      what: 'with an opening balance for two chains',
      options: { to: 'generic', opening: at('opening.csv') },
      message: 'opening.csv:2: found chain empty, expected an id such as 43114 or a name such as avalanche',
      fix: 'Correct the line',
    },
    {
      what: 'with one name for two chains',
      options: { to: 'generic', chainName: 'Avalanche' },
      message: '--chain-name names one chain, but these exports are of chains 43114 and 1',
      fix: 'Omit --chain-name',
    },
    {
      what: 'without a file for the numbers of unknown assets',
      options: { to: 'koinly' },
      message: 'several outputs need one file for the numbers of unknown assets',
      fix: 'Name the file with --map',
    },
    {
      what: 'for files of an explorer',
      options: { to: 'etherscan', out },
      message: 'etherscan: its files are those of one export',
      fix: 'Convert each output to a folder of its own.',
    },
  ])('$what', async ({ outputs = bothChains, options, message, fix }) => {
    await expect(convert(outputs, options)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(message),
      fix: expect.stringContaining(fix),
    })
    expect(readdirSync(folder)).not.toContain('refused')
  })
})

describe("lines of a user's file that match nothing", () => {
  const file = (name: string, ...lines: string[]) => {
    writeFileSync(at(name), [...lines, ''].join('\n'))
    return at(name)
  }
  const unknown = address('8').replace(/8$/, '1')
  const tickers = file(
    't.csv',
    'chain,contract,ticker',
    `1,${unknown},ONE`,
    `1,${USDC.address},TWO`,
    `10,${unknown},X`,
  )
  const names = file('n.csv', 'address,name', `${FRIEND},Friend`, `${unknown},Nobody`, `${address('7')},`)
  const prices = file(
    ...(['p.csv', 'date,asset,currency,price,chain', '2024-01-01,native,USD,1,1'] as const),
    '2024-01-01,DOGE,USD,1,1',
    `2024-01-01,${unknown},USD,,1`,
    '2024-01-01,USDC,USD,1,1',
  )

  test('are counted, apart from those about other chains', async () => {
    const files = { tickers, names, prices }
    expect(await findUnmatchedLines([ETHEREUM], files)).toMatchObject([
      { file: tickers, count: 1, first: { line: 2, match: `ONE ${unknown}` }, ofOtherChains: 1, lines: 3 },
      { file: names, count: 1, first: { line: 3, match: `Nobody ${unknown}` }, ofOtherChains: 0, lines: 2 },
      { file: prices, count: 1, first: { line: 3, match: 'DOGE' }, ofOtherChains: 0, lines: 3 },
    ])
    expect(await findUnmatchedLines([BOTH], files)).toMatchObject([
      { count: 0, ofOtherChains: 3 },
      { count: 1, ofOtherChains: 0 },
      { count: 0, ofOtherChains: 3 },
    ])
    const opening = file(
      'o.csv',
      'wallet_address,asset_type,asset_address,token_id,value',
      `${ANN},erc20,${unknown},,1`,
    )
    expect(await findUnmatchedLines([ETHEREUM], { tickers, opening })).toMatchObject([{ count: 0 }])
  })

  test('are told apart from those about wallets whose label in the export is another one', async () => {
    const labelled = file('w.csv', 'address,name', `${ANN},Anna`, `${BEN},"Büro ""2"""`)
    const overridden = [{ line: 2, match: `Anna ${ANN}`, label: 'Ann, main' }]
    expect(await findUnmatchedLines([BOTH], { names: labelled })).toMatchObject([{ count: 0, overridden }])
    const { exit, stderr } = await runCommand(['balances', BOTH, '--names', labelled])
    expect(exit).toBe(0)
    expect(stderr).toContain(
      `1 line of ${labelled} ignored, because labels of wallets take precedence: Anna ${ANN} in line 2, whose label is Ann, main\n`,
    )
  })

  test('are warned of by convert and statement', async () => {
    const files = ['--names', names, '--prices', prices]
    const of = (name: string, rest: string) => `1 line of ${name} matched nothing: ${rest} in line 3\n`
    for (const words of [
      ['convert', ETHEREUM, '--to', 'generic', '--tickers', tickers],
      ['statement', ETHEREUM, '--year', '2024'],
    ]) {
      const { exit, stderr } = await runCommand([...words, ...files])
      expect({ exit, stderr }).toEqual({
        exit: 0,
        stderr: expect.stringContaining(of(names, `Nobody ${unknown}`)),
      })
      expect(stderr).toContain(of(prices, 'DOGE'))
    }
  })
})

test('a wallet that does not exist is refused with the label that was probably meant', async () => {
  await expect(statement([BOTH], { year: '2024', wallets: ['ann, mian'] })).rejects.toMatchObject({
    message: 'the export has no wallet ann, mian',
    fix: 'Did you mean Ann, main?',
  })
})

test('the command converts several outputs, and counts a repeated one once', async () => {
  const args = ['convert', ETHEREUM, OF_ANN, ETHEREUM, '--to', 'generic', '--out', at('command.csv')]
  const { exit, stderr } = await runCommand(args)
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: expect.stringContaining(at('command.csv')) })
  expect(
    new Set(parse<Row>(readFileSync(at('command.csv')), { columns: true }).map(({ chain }) => chain)),
  ).toEqual(new Set(['1', '43114']))
})

describe('wallets', () => {
  const ofBoth = [BOTH, ETHEREUM] as const

  test('one wallet becomes the file that it has with one file per wallet', async () => {
    for (const to of ['koinly', 'generic', 'hledger', 'cointracker']) {
      const options = { to, map: at('wallet.assets.csv') }
      const { files } = await convert(ofBoth, { ...options, perWallet: true, out: at(`wallets-${to}`) })
      for (const wallet of [ANN, BEN]) {
        const out = at(`wallet-${to}-${wallet}`)
        const { lines } = await convert(ofBoth, { ...options, wallets: [wallet.toUpperCase()], out })
        expect(lines).toBeGreaterThan(3)
        expect(textOf(out)).toBe(textOf(files.find((file) => file.includes(wallet)) ?? ''))
      }
    }
  })

  test('prices and tickers are needed for the movements of one wallet only', async () => {
    const [all, some] = [await pricesNeeded(BOTH), await pricesNeeded(BOTH, { wallets: [BEN] })]
    expect(some.length).toBeGreaterThan(0)
    expect(some.length).toBeLessThan(all.length)
    const moved = (await tickersNeeded(BOTH, { wallets: [BEN] })).map(({ movements }) => movements)
    const counted = (await tickersNeeded(BOTH)).map(({ movements }) => movements)
    expect(moved.reduce((a, b) => a + b, 0)).toBeLessThan(counted.reduce((a, b) => a + b, 0))
  })

  test('refuses a wallet that no export has', async () => {
    await expect(convert(ofBoth, { to: 'generic', wallets: ['Nobody'] })).rejects.toMatchObject({
      code: 'USAGE',
      message: 'the export has no wallet Nobody',
    })
  })

  test('warns if a file has several wallets and no column for them, and names a new folder', async () => {
    const file = at('new/folder/koinly.csv')
    const koinly = await runCommand(['convert', BOTH, '--to', 'koinly', '--out', file])
    expect(koinly.stderr).toContain('2 wallets in one file, and koinly has no column that names them')
    expect(koinly.stderr).toContain(`creating the folder ${at('new/folder')}\n`)
    const one = await runCommand(['convert', BOTH, '--to', 'koinly', '--wallet', ANN, '--out', file])
    expect(one).toMatchObject({ exit: 0, stderr: expect.not.stringMatching(/creating|in one file/) })
  })
})
