import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { BUSIEST, LISTINGS, openExplorer, recordsOf } from './requests.ts'

const FOLDER = new URL('../../fixtures/explorer/', import.meta.url)
const readJson = (name: string) => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8'))
const INDEX: { file: string; service: string; action: string; request?: string; origin: object }[] =
  readJson('index.json')

test('every recorded answer names its origin, and no API key', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json') && name !== 'index.json')
  expect(INDEX.map(({ file }) => file).sort()).toEqual(files.sort())
  for (const { origin, request = '' } of INDEX) {
    expect(Object.keys(origin)).toEqual(expect.arrayContaining(['repository', 'commit', 'path']))
    expect(request).not.toMatch(/apikey/i)
  }
})

/** Recorded answers whose records have the fields of today's services. */
const TODAY = [
  'etherscan-v2-txlist',
  'etherscan-v2-txlistinternal',
  'etherscan-v2-tokentx',
  'etherscan-v2-tokennfttx',
  'etherscan-v2-token1155tx',
  'blockscout-txlist',
  'blockscout-txlistinternal',
  'blockscout-tokentx',
  'blockscout-tokennfttx',
]

test.for(TODAY)('the records of the embedded service have the fields of %s', async (name) => {
  const { service, action } = INDEX.find(({ file }) => file === `${name}.json`) ?? { service: '', action: '' }
  const [recorded] = readJson(`${name}.json`).result
  const ask = openExplorer(service === 'blockscout' ? 'blockscout' : 'etherscan')
  const [record] = await recordsOf(ask, { action, address: BUSIEST })
  expect(Object.keys(record ?? {}).sort()).toEqual(Object.keys(recorded).sort())
  for (const value of Object.values(record ?? {})) expect(typeof value).toBe('string')
})

test.for(LISTINGS)('an empty %s is answered as it was recorded', async (action) => {
  const etherscan = await openExplorer('etherscan')({ action, address: `0x${'9'.repeat(40)}` })
  expect(etherscan.body).toEqual(readJson('etherscan-v2-txlist-empty.json'))
  const blockscout = await openExplorer('blockscout')({ action, address: `0x${'9'.repeat(40)}` })
  const recorded = ['txlist', 'txlistinternal'].includes(action) ? action : 'tokentx'
  expect(blockscout.body).toEqual(readJson(`blockscout-${recorded}-empty.json`))
})

test.for(['tokentx', 'tokennfttx'])(
  'with the quirk before-9, %s has the fields that were documented',
  async (action) => {
    const [recorded] = readJson(`blockscout-v8-${action}.json`).result
    const ask = openExplorer('blockscout', { explorerQuirks: ['before-9'] })
    const records = await recordsOf(ask, { action, address: BUSIEST })
    const record = records.find((candidate) => action === 'tokennfttx' || 'value' in candidate)
    expect(Object.keys(record ?? {}).sort()).toEqual(Object.keys(recorded).sort())
  },
)
