import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { parseCsvInstant } from '../../src/accounting/check/check-csv.ts'
import { type Preset, typeSides } from '../../src/accounting/csv/preset.ts'
import { MULTI_FILE_WRITERS, PRESETS } from '../../src/accounting/formats.ts'
import type { LegSide } from '../../src/accounting/import-rows.ts'
import { caipName } from '../../src/accounting/names/names.ts'
import { rotki } from '../../src/accounting/presets/rotki.ts'
import { COIN } from './made-up.ts'

// Rules from the source code of the programs, each with its file and commit. Only facts are taken, no code.

const golden = (to: string, file = `made-up-${to}`) => {
  const text = readFileSync(join(import.meta.dirname, 'golden/made-up', `${to}.txt`), 'utf8')
  return (
    text
      .split(/^==> /m)
      .find((part) => part.startsWith(`${file}\n`))
      ?.slice(file.length + 1) ?? ''
  )
}
const rowsOf = (to: string, file?: string): Record<string, string>[] =>
  parse(golden(to, file), { columns: true })
const presetOf = (name: string) => PRESETS.find((preset) => preset.name === name) as Preset
const headers = ({ columns }: Preset) => columns.map(([header]) => header)

describe('staketaxcsv 87547d5, src/staketaxcsv/common/ExporterTypes.py', () => {
  test.for([
    {
      to: 'koinly',
      fields:
        'Date|Sent Amount|Sent Currency|Received Amount|Received Currency|Fee Amount|Fee Currency|Net Worth Amount|Net Worth Currency|Label|Description|TxHash',
    },
    {
      to: 'cointracking',
      fields:
        'Type|Buy Amount|Buy Currency|Sell Amount|Sell Currency|Fee|Fee Currency|Exchange|Trade-Group|Comment|Date|Tx-ID|Buy Value in Account Currency|Sell Value in Account Currency|Liquidity pool',
    },
    {
      to: 'tokentax',
      fields:
        'Type|BuyAmount|BuyCurrency|SellAmount|SellCurrency|FeeAmount|FeeCurrency|Exchange|Group|Comment|Date',
    },
    {
      to: 'coinledger',
      fields:
        'Date (UTC)|Platform (Optional)|Asset Sent|Amount Sent|Asset Received|Amount Received|Fee Currency (Optional)|Fee Amount (Optional)|Type|Description (Optional)|TxHash (Optional)',
    },
    {
      to: 'zenledger',
      fields:
        'Timestamp|Type|IN Amount|IN Currency|Out Amount|Out Currency|Fee Amount|Fee Currency|Exchange(optional)|US Based',
    },
    {
      to: 'taxbit',
      fields:
        'Date and Time|Transaction Type|Sent Quantity|Sent Currency|Sending Source|Received Quantity|Received Currency|Receiving Destination|Fee|Fee Currency|Exchange Transaction ID|Blockchain Transaction Hash',
    },
    {
      to: 'coinpanda',
      fields:
        'Timestamp (UTC)|Type|Sent Amount|Sent Currency|Received Amount|Received Currency|Fee Amount|Fee Currency|Net Worth Amount|Net Worth Currency|Label|Description|TxHash',
    },
    {
      to: 'kryptos',
      fields:
        'Date-Time|Type|Received Asset|Received Amount|Sent Asset|Sent Amount|Net Worth|Base Currency|Fee Asset|Fee Amount|Fee Net Worth|Description|Tx Hash|Sent Asset Contract Address|Received Asset Contract Address|From Address|To Address|Comment',
    },
    {
      to: 'blockpit',
      fields:
        'Date (UTC)|Integration Name|Label|Outgoing Asset|Outgoing Amount|Incoming Asset|Incoming Amount|Fee Asset (optional)|Fee Amount (optional)|Comment (optional)|Trx. ID (optional)',
    },
  ])('$to has these columns', ({ to, fields }) => {
    expect(headers(presetOf(to))).toEqual(fields.split('|'))
  })

  test('CoinTracker has these columns without the ninth, which the vendor forbids', () => {
    expect(headers(presetOf('cointracker'))).toEqual([
      'Date',
      'Received Quantity',
      'Received Currency',
      'Sent Quantity',
      'Sent Currency',
      'Fee Amount',
      'Fee Currency',
      'Tag',
    ])
  })

  test.for([
    { to: 'coinledger', date: '02/29/2024 23:59:59' },
    { to: 'tokentax', date: '02/29/2024 23:59:59' },
    { to: 'cointracker', date: '02/29/2024 23:59:59' },
    { to: 'blockpit', date: '29.02.2024 23:59:59' },
    { to: 'kryptos', date: '2024-02-29T23:59:59.000Z' },
    { to: 'taxbit', date: '2024-02-29T23:59:59Z' },
  ])('Exporter.py: $to dates are written as $date', ({ to, date }) => {
    const preset = presetOf(to)
    const [header = ''] = preset.columns.find(([, role]) => role === 'date') ?? []
    expect(rowsOf(to).map((row) => row[header])).toContain(date)
    expect(parseCsvInstant(date, preset.date)).toBe(Date.UTC(2024, 1, 29, 23, 59, 59))
  })
})

describe('BittyTax 287c4b4', () => {
  const rows: string[][] = parse(golden('bittytax'), { from_line: 2 })

  test('src/bittytax/t_row.py: thirteen columns by position', () => {
    expect(headers(presetOf('bittytax')).map((header) => header.replace(' in {currency}', ''))).toEqual([
      'Type',
      'Buy Quantity',
      'Buy Asset',
      'Buy Value',
      'Sell Quantity',
      'Sell Asset',
      'Sell Value',
      'Fee Quantity',
      'Fee Asset',
      'Fee Value',
      'Wallet',
      'Timestamp',
      'Note',
    ])
  })

  test('src/bittytax/t_row.py: rows have the amounts that their type requires, and no others', () => {
    for (const [type = '', ...cells] of rows) {
      const filled = [0, 1, 3, 4, 6, 7].map((at) => cells[at] !== '')
      const [buy, buyAsset, sell, sellAsset, fee, feeAsset] = filled
      expect([type, buy === buyAsset, sell === sellAsset, fee === feeAsset]).toEqual([type, true, true, true])
      const required = {
        Deposit: [true, false],
        Withdrawal: [false, true],
        Spend: [false, true],
        Trade: [true, true],
      }
      expect([type, buy, sell]).toEqual([type, ...(required[type as keyof typeof required] ?? [])])
      if (type === 'Spend') expect([cells[3], fee]).toEqual(['0', true])
    }
  })

  test('src/bittytax/bt_types.py: the types of the preset are these', () => {
    const sides = typeSides(presetOf('bittytax'))
    const known =
      'Deposit Unstake Mining Staking-Reward Staking Interest Dividend Income Gift-Received Fork Airdrop Referral Cashback Fee-Rebate Loan Margin-Gain Margin-Fee-Rebate Withdrawal Stake Spend Gift-Sent Gift-Spouse Charity-Sent Lost Loan-Repayment Loan-Interest Margin-Loss Margin-Fee Trade'
    expect([...sides.keys()].sort()).toEqual(known.split(' ').sort())
    const withSide = (side: LegSide) =>
      [...sides].filter(([, sidesOfType]) => sidesOfType.has(side)).map(([type]) => type)
    // The source has BUY_TYPES up to Margin-Fee-Rebate, and SELL_TYPES from Withdrawal. Trade is in both, as it needs both.
    const [buy = '', sell = ''] = known.split(' Trade')[0]?.split(' Withdrawal') ?? []
    expect(withSide('in').sort()).toEqual(buy.split(' ').sort())
    expect(withSide('out').sort()).toEqual(`Withdrawal${sell}`.split(' ').sort())
    expect(withSide('swap')).toEqual(['Trade'])
  })

  test('src/bittytax/conv/parsers/etherscan.py: each file has the header of its parser', () => {
    const common = ['Transaction Hash', 'Blockno', 'UnixTimestamp', 'DateTime (UTC)']
    const any = /./
    const expected: (string | RegExp)[][] = [
      [
        ...common,
        'From',
        'To',
        'ContractAddress',
        /^Value_IN\(\w+\)/,
        /^Value_OUT\(\w+\)/,
        any,
        /^TxnFee\(\w+\)/,
        'TxnFee(USD)',
        /^Historical \$Price\/\w+/,
        'Status',
        'ErrCode',
        'Method',
      ],
      [
        ...common,
        'ParentTxFrom',
        'ParentTxTo',
        /^ParentTx\w+_Value/,
        'From',
        'TxTo',
        'ContractAddress',
        /^Value_IN\(\w+\)/,
        /^Value_OUT\(\w+\)/,
        any,
        /^Historical \$Price\/\w+/,
        'Status',
        'ErrCode',
        'Type',
      ],
      [
        ...common,
        'From',
        'To',
        'TokenValue',
        'USDValueDayOfTx',
        'ContractAddress',
        'TokenName',
        'TokenSymbol',
      ],
      [
        ...common,
        'From',
        'To',
        'ContractAddress',
        'TokenName',
        'TokenSymbol',
        'Token ID',
        'Type',
        'Quantity',
      ],
    ]
    const wallet = 'a'.repeat(40)
    for (const [at, kind] of ['', 'internal-', 'token-', 'nft-'].entries()) {
      const [firstLine = ''] = golden('etherscan', `made-up-etherscan/export-${kind}0x${wallet}.csv`).split(
        '\n',
      )
      const cells = firstLine.split(',')
      expect(cells).toHaveLength(expected[at]?.length ?? 0)
      for (const [column, header] of (expected[at] ?? []).entries())
        expect(cells[column]).toMatch(
          typeof header === 'string' ? new RegExp(`^${header.replace(/[()]/g, '\\$&')}$`) : header,
        )
    }
  })
})

describe('rotki ef14aad', () => {
  const rows = rowsOf('rotki', 'made-up-rotki/events.csv')
  const trades = rowsOf('rotki', 'made-up-rotki/trades.csv')

  test('rotkehlchen/data_import/importers/rotki_events.py: only these types, and an empty fee, which would create a second event', () => {
    const types = new Set(['Deposit', 'Withdrawal', 'Income', 'Loss', 'Spend', 'Staking'])
    expect(rows.filter(({ Type, Fee }) => !types.has(Type ?? '') || Fee !== '')).toEqual([])
    expect(Object.keys(rows[0] ?? {})).toEqual([
      'Type',
      'Location',
      'Currency',
      'Amount',
      'Fee',
      'Fee Currency',
      'Description',
      'Timestamp',
    ])
  })

  test('rotkehlchen/data_import/importers/rotki_trades.py: both amounts, and an empty fee, which would create a third event', () => {
    expect(Object.keys(trades[0] ?? {})).toEqual([
      'Location',
      'Spend Currency',
      'Receive Currency',
      'Receive Amount',
      'Spend Amount',
      'Fee',
      'Fee Currency',
      'Description',
      'Timestamp',
    ])
    for (const trade of trades) {
      expect(Number(trade['Receive Amount'])).toBeGreaterThan(0)
      expect(Number(trade['Spend Amount'])).toBeGreaterThan(0)
      expect(trade.Fee).toBe('')
    }
    expect(trades.length).toBeGreaterThan(4)
  })

  test('rotkehlchen/types.py, TokenKind: ERC-721 tokens, but no ERC-1155 tokens, which are listed as left out', () => {
    const currencies = [...rows, ...trades].flatMap((row) => [
      row.Currency,
      row['Spend Currency'],
      row['Receive Currency'],
    ])
    const kinds = currencies.map((currency) => /^eip155:\d+\/(\w+):/.exec(currency ?? '')?.[1] ?? 'coin')
    expect([...new Set(kinds)].sort()).toEqual(['coin', 'erc20', 'erc721'])
    const omitted = golden('rotki', 'made-up-rotki.omitted.csv').match(/^rotki has no ERC-1155 tokens,/gm)
    expect(omitted).toHaveLength(2)
  })

  test.for([
    { chain: '1', location: 'ethereum', coin: 'ETH' },
    { chain: '10', location: 'optimism', coin: 'ETH' },
    { chain: '56', location: 'binance sc', coin: 'BNB' },
    { chain: '100', location: 'gnosis', coin: 'XDAI' },
    {
      chain: '137',
      location: 'polygon pos',
      coin: 'eip155:137/erc20:0x0000000000000000000000000000000000001010',
    },
    { chain: '8453', location: 'base', coin: 'ETH' },
    { chain: '42161', location: 'arbitrum one', coin: 'ETH' },
    { chain: '43114', location: 'avalanche', coin: 'AVAX' },
    { chain: '534352', location: 'scroll', coin: 'ETH' },
  ])(
    'rotkehlchen/types.py, Location and get_native_token_id: chain $chain is $location with the coin $coin',
    ({ chain, location, coin }) => {
      for (const { chainNames, coinIds } of rotki.files) {
        expect(chainNames?.[chain]).toBe(location)
        expect(caipName(COIN, chain, coinIds ?? {})).toBe(coin)
      }
    },
  )

  test.for([
    { chain: '146', coin: 'SONIC' },
    { chain: '1284', coin: 'GLMR' },
    { chain: '42220', coin: 'CELO' },
    { chain: '59144', coin: 'ETH' },
    { chain: '25', coin: '' },
    { chain: '5000', coin: '' },
  ])('rotki/assets: the coin of chain $chain is "$coin"', ({ chain, coin }) => {
    expect(caipName(COIN, chain, rotki.files[0]?.coinIds ?? {})).toBe(coin)
  })

  test('rotkehlchen/data_import/utils.py: timestamps are milliseconds, and unknown locations are external', () => {
    expect(trades.map(({ Timestamp }) => Timestamp)).toContain(String(Date.UTC(2024, 1, 29, 23, 59, 59)))
    expect(new Set(rows.map(({ Location }) => Location))).toEqual(new Set(['avalanche']))
    expect(rotki.files.map(({ chainNames }) => chainNames?.other)).toEqual(['external', 'external'])
  })
})

describe('dali-rp2 a17f269 and rp2 eb2a368', () => {
  test('plugin/input/csv/manual.py: thirteen, thirteen and eleven columns by position', () => {
    const [received, sent, intra] = MULTI_FILE_WRITERS.find(({ name }) => name === 'rp2')?.files ?? []
    expect([received, sent, intra].map((format) => format?.columns.length)).toEqual([13, 13, 11])
    expect(received && headers(received).slice(0, 9).join()).toBe(
      'unique_id,timestamp,asset,exchange,holder,transaction_type,spot_price,crypto_in,crypto_fee',
    )
    expect(sent && headers(sent).slice(6, 10).join()).toBe(
      'spot_price,crypto_out_no_fee,crypto_fee,crypto_out_with_fee',
    )
  })

  test('out_transaction.py: a fee has no sent amount, and no price is zero', () => {
    const rows = rowsOf('rp2', 'made-up-rp2/out.csv')
    for (const { transaction_type, crypto_out_no_fee, spot_price } of rows) {
      expect(crypto_out_no_fee === '0').toBe(transaction_type === 'FEE')
      expect(Number(spot_price)).toBeGreaterThan(0)
    }
    expect(rows.length).toBeGreaterThan(5)
  })

  test('rp2_decimal.py: no more than thirteen decimals', () => {
    const text = ['in', 'out', 'intra'].map((file) => golden('rp2', `made-up-rp2/${file}.csv`)).join('')
    expect(text).toContain('0.00125')
    expect(text).not.toMatch(/,\d+\.\d{14}/)
  })

  test('abstract_transaction.py: every timestamp has a time zone', () => {
    for (const { timestamp } of rowsOf('rp2', 'made-up-rp2/in.csv'))
      expect(timestamp).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00$/)
  })
})
