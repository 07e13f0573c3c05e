import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { convert } from '../../../src/accounting/convert.ts'
import type { JsonObject } from '../../../src/demo-server/json.ts'
import { writePrices } from '../../helpers/prices.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'
import { exportMadeUp } from '../made-up-export.ts'
import { FEES, PROGRAMS, type Program, TOKENS, YEAR_END } from './case.ts'
import { readRows } from './read-rows.ts'
import { CASES, WORLD } from './world.ts'

const folder = suiteFolder()
const at = (name: string) => join(folder, name)
const rows = new Map<Program, Map<string, string[]>>()

function convertTo(to: Program, out: string, period = {}) {
  const options = to === 'rp2' ? { prices: at('prices.csv') } : { map: at('koinly.assets.csv') }
  return convert(at('world'), { to, out, ...options, ...period })
}

beforeAll(async () => {
  await exportMadeUp(at('world'), WORLD, '43114')
  await writePrices(at('world'), at('prices.csv'))
  for (const to of PROGRAMS) {
    await convertTo(to, at(to))
    rows.set(to, readRows(to, at(to), TOKENS))
  }
})

describe.for(PROGRAMS)('%s', (program) => {
  test.for(CASES.map((one) => [one.name, one] as const))('gets the expected rows for %s', ([, one]) => {
    const expected = [...(one.paysFee === false ? [] : [FEES[program]]), ...one[program]]
    expect(rows.get(program)?.get(hashOf(one.transaction))?.sort()).toEqual(expected.sort())
  })

  test('gets the last millisecond of a year as part of it, and not the next one', async () => {
    const { file, time } = LAST_MILLISECOND[program]
    await convertTo(program, at(`${program}-2023`), { from: '2023-12-31', until: '2023-12-31' })
    const text = readFileSync(join(at(`${program}-2023`), file), 'utf8')
    const [last = '', next = ''] = YEAR_END.map(hashOf)
    expect(text).toContain(time)
    expect(text).toContain(last)
    expect(text).not.toContain(next)
  })
})

const hashOf = (transaction: JsonObject) =>
  /"txHash":"(0x\w+)"/.exec(JSON.stringify(transaction))?.[1] ?? 'none'

/** The last millisecond of 2023 as each program reads it, and the file that contains it. */
const LAST_MILLISECOND: Readonly<Record<Program, { file: string; time: string }>> = {
  koinly: { file: '', time: '\n2023-12-31 23:59:59,' },
  cointracking: { file: '', time: ',2023-12-31 23:59:59,' },
  rotki: { file: 'events.csv', time: ',1704067199999\n' },
  hledger: { file: '', time: '\n2023-12-31 ' },
  rp2: { file: 'in.csv', time: ',2023-12-31 23:59:59+00:00,' },
}
