import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readAccepted } from '../../../src/verify/reconcile/accepted.ts'
import type { ComparedBalance } from '../../../src/verify/reconcile/compare-wallet.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

const WALLET = `0x${'ab'.repeat(20)}`
const TOKEN = `0x${'cd'.repeat(20)}`
const EXPORT = { job: { chain: '43114' }, coverage: [] }

const coin: ComparedBalance = {
  wallet: WALLET,
  type: 'native',
  address: null,
  tokenId: null,
  symbol: 'AVAX',
  ledger: 10n,
  service: 3n,
}
const token = { ...coin, type: 'erc20', address: TOKEN }

function fileOf(...lines: string[]): string {
  const file = join(tempFolder(), 'accepted.csv')
  const header = 'wallet_address,asset_type,asset_address,token_id,difference,chain'
  writeFileSync(file, [header, ...lines].join('\n'))
  return file
}

test('accepts the listed difference of the coin only, and any difference of a listed token', async () => {
  const accepted = await readAccepted(
    fileOf(`${WALLET},native,,,-7,`, `${WALLET},erc20,${TOKEN},,-7,`),
    EXPORT,
  )
  expect([accepted(coin), accepted({ ...coin, service: 4n })]).toEqual([2, undefined])
  expect([accepted(token), accepted({ ...token, service: 4n })]).toEqual([3, 3])
  expect(accepted({ ...token, address: `0x${'ce'.repeat(20)}` })).toBeUndefined()
  expect(accepted({ ...token, wallet: TOKEN })).toBeUndefined()
})

test('accepts any difference of the coin if its cell is empty, and nothing of another chain', async () => {
  const anyAmount = await readAccepted(fileOf(`${WALLET},native,,,,`), EXPORT)
  expect([anyAmount(coin), anyAmount({ ...coin, service: 4n })]).toEqual([2, 2])
  const elsewhere = await readAccepted(fileOf(`${WALLET},native,,,,1`), EXPORT)
  expect(elsewhere(coin)).toBeUndefined()
})

test('refuses a difference that is no whole number, with its line', async () => {
  await expect(readAccepted(fileOf(`${WALLET},native,,,0.5,`), EXPORT)).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('accepted.csv:2: found difference 0.5, expected a whole number'),
  })
})
