import { spawnSync } from 'node:child_process'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'csv-parse/sync'
import { beforeAll, expect, test } from 'vitest'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import type { JsonObject } from '../../../src/demo-server/json.ts'
import { runCommand } from '../../helpers/command.ts'
import { type Fault, startLoopback } from '../../helpers/loopback.ts'
import { IMPORTERS_PYTHON, isMissing } from '../../helpers/programs.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { unzipText } from '../../helpers/xlsx.ts'
import { ANN } from '../made-up-transactions.ts'
import { llamaAnswer, serveAnswers } from '../price-list/serve-answers.ts'
import { exportPerson } from './export-person.ts'
import { AUSDC, ON_AVALANCHE, ON_ETHEREUM, SPAM, STETH, WAVAX } from './world.ts'

const folder = suiteFolder()
const at = (name: string) => join(folder, name)
let outputs: readonly [string, string]

beforeAll(async () => {
  outputs = (await exportPerson(folder)).outputs
})

/** The blocks after which Ann has more of a token without an event: two that grow, and one that wraps coins. */
const WITHOUT_EVENT = [
  { token: STETH, chain: '1', block: 104, added: 3n * 10n ** 16n },
  { token: AUSDC, chain: '43114', block: 105, added: 3_000_000n },
  { token: WAVAX, chain: '43114', block: 104, added: 2n * 10n ** 18n },
]

type Transfer = { from: Party; to: Party; value: string; erc20Token: JsonObject & { address: string } }
type Party = { address: string }

/** The tokens of a wallet after a block, as the chain would state them. */
function tokensAt(chain: string, wallet: string, block: number): Map<string, bigint> {
  const held = new Map<string, bigint>()
  const add = (contract: string, value: bigint) => held.set(contract, (held.get(contract) ?? 0n) + value)
  for (const { transaction } of [...ON_ETHEREUM, ...ON_AVALANCHE]) {
    const { chainId, blockNumber, txStatus } = transaction.nativeTransaction as Record<string, string>
    if (chainId !== chain || Number(blockNumber) > block || txStatus === '0') continue
    for (const { from, to, value, erc20Token } of transaction.erc20Transfers as unknown as Transfer[]) {
      if (from.address === wallet) add(erc20Token.address, -BigInt(value))
      if (to.address === wallet) add(erc20Token.address, BigInt(value))
    }
  }
  for (const { token, added, ...since } of WITHOUT_EVENT)
    if (wallet === ANN && since.chain === chain && since.block <= block) add(token.address, added)
  return held
}

/** States balances of tokens; the service without them answers everything else. */
const withTokens: Fault = ({ path, query }) => {
  const [, chain = '', wallet = ''] =
    /^\/v1\/chains\/(\d+)\/addresses\/(0x\w+)\/balances:listErc20$/.exec(path) ?? []
  if (chain === '') return undefined
  return (response) => {
    const tokens = tokensAt(chain, wallet.toLowerCase(), Number(query.get('blockNumber')))
    const balances = [...tokens].map(([contract, balance]) => ({
      address: contract,
      name: '',
      symbol: '',
      decimals: 18,
      ercType: 'ERC-20',
      chainId: chain,
      balance: String(balance),
    }))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ erc20TokenBalances: balances.filter(({ balance }) => balance !== '0') }))
  }
}

/** Lets `reconcile` propose what grew without an event. Returns the file of both chains. */
async function proposeAdjustments(): Promise<string> {
  const service = createDataService({ chains: { '1': [], '43114': [] } })
  const { url } = await startLoopback(service, withTokens)
  const files = [at('adjustments-1.csv'), at('adjustments-2.csv')]
  for (const [number, output] of outputs.entries()) {
    const file = files[number] ?? ''
    const args = ['reconcile', output, '--base-url', url, '--write-adjustments', file]
    expect(await runCommand(args)).toMatchObject({
      exit: 10,
      stderr: expect.stringContaining('1 adjustment'),
    })
  }
  const [first = '', second = ''] = files
  appendFileSync(first, readFileSync(second, 'utf8').replace(/^.*\n/, ''))
  return first
}

/** Prices of whole units: of ether as CoinGecko stated it for 2024-01-01, the others made up. */
const PRICES: readonly (readonly [coin: RegExp, price: number])[] = [
  [/^coingecko:ethereum$|:0xae7a|:0xc02a/, 2279.9410085689606],
  [/^coingecko:avalanche-2$|:0xb31f/, 36.5],
  [/:0xa0b8|:0xb97e|:0x625e/, 0.999436],
  [/:0xc183/, 11.25],
]

/** Runs the commands once for all tests. Resolves with the file of adjustments, and what each command says on stderr. */
const makeBooks = () => (books ??= runCommands())
let books: ReturnType<typeof runCommands> | undefined

async function runCommands(): Promise<{ adjustments: string; messages: string[] }> {
  const adjustments = await proposeAdjustments()
  const prices = await serveAnswers(
    llamaAnswer((coin, timestamp) => {
      const price = PRICES.find(([name]) => name.test(coin))?.[1]
      return price === undefined ? undefined : { timestamp, price, confidence: 0.99 }
    }),
  )
  const env = { WALLETLAKE_DEFILLAMA_URL: prices.url }
  const shared = ['--prices', 'auto', '--adjustments', adjustments]
  const convert = ['convert', ...outputs, ...shared, '--exclude-spam', '--to']
  const commands = [
    [...convert, 'koinly', '--map', at('assets.csv'), '--out', at('koinly.csv')],
    [...convert, 'rp2', '--out', at('rp2')],
    ['statement', ...outputs, ...shared, '--year', '2024', '--out', at('2024.xlsx')],
  ]
  const messages: string[] = []
  for (const args of commands) {
    const { exit, stderr } = await runCommand(args, env)
    expect({ exit, stderr: exit === 0 ? '' : stderr }).toEqual({ exit: 0, stderr: '' })
    messages.push(stderr)
  }
  return { adjustments, messages }
}

test('a Koinly file, an rp2 report and a statement to sign take three commands, and nothing is typed', {
  timeout: 120_000,
}, async () => {
  const { adjustments, messages } = await makeBooks()
  expect(parse(readFileSync(adjustments), { columns: true })).toMatchObject([
    { time: '2024-01-05T11:59:59.000Z', value: '30000000000000000', type: 'rebase' },
    { time: '2024-01-20T11:59:59.000Z', value: '3000000', type: 'rebase' },
  ])
  const kept = parse(readFileSync(`${outputs[0]}.prices.csv`), { columns: true }) as Record<string, string>[]
  const unpriced = new Set(kept.filter(({ price }) => price === '').map(({ asset }) => asset))
  expect([...unpriced]).toEqual([SPAM.address])
  expect(messages.slice(0, 2).join('')).not.toMatch(/without a price|no price/)
  const workbook = readFileSync(at('2024.xlsx'))
  const texts = unzipText(workbook, 'xl/sharedStrings.xml')
  expect(texts).toContain('Signature:')
  expect(texts).toContain('Total in USD')
  expect(texts).toContain('econciled')
})

test('the files are what the programs expect', { tags: ['long'] }, async () => {
  await makeBooks()
  for (const [to, path] of [
    ['koinly', at('koinly.csv')],
    ['rp2', at('rp2')],
  ] as const)
    expect(await runCommand(['convert', '--check', path, '--to', to])).toMatchObject({ exit: 0 })
})

test.skipIf(isMissing('dali-rp2 (PyPI)'))(
  'rp2 reports the taxes of that folder',
  { tags: ['long'], timeout: 120_000 },
  async () => {
    await makeBooks()
    const file = fileURLToPath(new URL('../importers/import_rp2.py', import.meta.url))
    const { stdout, stderr, status } = spawnSync(IMPORTERS_PYTHON, [file, at('rp2')], { encoding: 'utf8' })
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).not.toContain('rejected')
    expect(stdout.split('\n').filter(Boolean).length).toBeGreaterThan(5)
  },
)
