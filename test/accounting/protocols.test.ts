import { expect, test } from 'vitest'
import { importRowsOf } from '../../src/accounting/import-rows.ts'
import type { Movement } from '../../src/accounting/movement.ts'
import { COIN, movement, nft, token } from './made-up.ts'

const [AWETH, RETH, COMP, USDC] = [token('aWETH', 18), token('rETH', 18), token('COMP', 18), token('USDC')]
const STETH = { ...token('stETH', 18), address: '0xae7ab96520de3a18e5e111b5eaab095312d7fe84' }
const GATEWAY = '0x893411580e590d62ddbca8a703d61cc4a8c7b2b9'
const RETH_CONTRACT = '0xae78736cd615f374d3085123a210448e74fc6393'
const COMPTROLLER = '0x3d9819210a31b4961b30ef54be2aed79b9c9cd3b'
const COMET_REWARDS = '0x1b0e765f6224c21223aea2af16c1c46e38885a40'
const MERKL = '0x3ef3d8ba38ebe18db133cec108f4d14ce00dd9ae'
const POSITIONS = '0xbd216513d74c8cf14cf4747e6aaa6420ff64ee9e'
const QUEUE = '0x889edc2edab5f40e902b864ad4d7ade8e412f9b1'
const OTHER = `0x${'e'.repeat(40)}`

const ticket = { ...nft('unstETH', '9'), address: QUEUE }
const position = { ...nft('UNI-V4', '3'), address: POSITIONS }
const moved = (isOut: boolean) => (asset: Movement['asset'], counterparty: string, type?: Movement['type']) =>
  movement({ asset, value: 5n, chain: '1', isOut, counterparty, ...(type === undefined ? {} : { type }) })
const [sent, received] = [moved(true), moved(false)]

/** The rows of a call, as sign, symbol, and what it is. */
function rowsOf(method: string, ...movements: Movement[]): string[] {
  const called = movements.map((each) => ({ ...each, method }))
  return importRowsOf(called, ({ hasShare }) => hasShare !== true).map(
    ({ kind, in: into, out, poolMove, income }) =>
      [kind, out?.asset.symbol, into?.asset.symbol, poolMove ?? income].filter(Boolean).join(' '),
  )
}

test.for([
  {
    what: 'Aave takes its share by a gateway',
    rows: rowsOf('withdrawETH(address,uint256,address)', sent(AWETH, GATEWAY), received(COIN, GATEWAY)),
    expected: ['out aWETH returnShare', 'in AVAX remove'],
  },
  {
    what: 'another gateway sells for coins',
    rows: rowsOf('withdrawETH(address,uint256,address)', sent(AWETH, OTHER), received(COIN, OTHER)),
    expected: ['swap aWETH AVAX'],
  },
  {
    what: 'Rocket Pool burns its share',
    rows: rowsOf(
      'burn(uint256)',
      sent({ ...RETH, address: RETH_CONTRACT }, OTHER, 'burn'),
      received(COIN, RETH_CONTRACT),
    ),
    expected: ['out rETH returnShare', 'in AVAX remove'],
  },
  {
    what: 'Compound pays rewards',
    rows: rowsOf('claimComp(address)', received(COMP, COMPTROLLER)),
    expected: ['in COMP reward'],
  },
  {
    what: 'Compound III pays rewards, and nobody else does',
    rows: rowsOf('claim(address,address,bool)', received(COMP, COMET_REWARDS), received(USDC, OTHER)),
    expected: ['in COMP reward', 'in USDC'],
  },
  {
    what: 'Merkl pays rewards',
    rows: rowsOf('claim(address[],address[],uint256[],bytes32[][])', received(USDC, MERKL)),
    expected: ['in USDC reward'],
  },
  {
    what: 'a position of Uniswap V4 returns what it did not use',
    rows: rowsOf(
      'modifyLiquidities(bytes,uint256)',
      sent(COIN, POSITIONS),
      sent(USDC, OTHER),
      received(position, OTHER, 'mint'),
    ),
    expected: ['out AVAX add', 'out USDC add', 'in UNI-V4 receiveShare'],
  },
  {
    what: 'a position of Uniswap V4 pays out what was added or earned',
    rows: rowsOf('modifyLiquidities(bytes,uint256)', received(USDC, POSITIONS)),
    expected: ['in USDC'],
  },
  {
    what: 'Lido queues a withdrawal',
    rows: rowsOf(
      'requestWithdrawals(uint256[],address)',
      sent(STETH, QUEUE),
      received(ticket, OTHER, 'mint'),
    ),
    expected: ['out stETH add', 'in unstETH receiveShare'],
  },
  {
    what: 'Lido pays a queued withdrawal',
    rows: rowsOf('claimWithdrawal(uint256)', sent(ticket, OTHER, 'burn'), received(COIN, QUEUE)),
    expected: ['out unstETH returnShare', 'in AVAX remove'],
  },
])('$what', ({ rows, expected }) => {
  expect(rows).toEqual(expected)
})
