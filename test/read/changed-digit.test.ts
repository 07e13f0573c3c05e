import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { convert } from '../../src/accounting/convert.ts'
import { report } from '../../src/html-report/report.ts'
import { balances } from '../../src/ledger/balances/balances.ts'
import { queryExport } from '../../src/read/query-export.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { goodLake } from '../verify/export/model-export.ts'
import { writeLake } from '../verify/export/write-model-export.ts'

const READERS = {
  balances: (output: string) => balances(output),
  report: (output: string) => report([output]),
  convert: (output: string) => convert(output, { to: 'generic', out: join(tempFolder(), 'books.csv') }),
  query: async (output: string) => {
    for await (const { batches } of queryExport(output, 'select sum(value) from ledger'))
      for await (const batch of batches) expect(batch).toHaveLength(1)
  },
}

/** Changes a digit of a file without changing its size or modification time. */
function changeDigit(path: string): void {
  const { atime, mtime } = statSync(path)
  const text = readFileSync(path, 'latin1')
  const changed = text.replace('5000000000000000000', '5000000000000000001')
  expect(changed).not.toBe(text)
  writeFileSync(path, changed, 'latin1')
  utimesSync(path, atime, mtime)
}

test.for(Object.entries(READERS))(
  '%s detects a changed digit in a file that it has read before',
  async ([, read]) => {
    const output = join(tempFolder(), 'out')
    const { tables } = await writeLake(output, goodLake())
    await read(output)
    const path = tables.ledger?.files[0]?.path ?? ''
    changeDigit(join(output, path))
    await expect(read(output)).rejects.toMatchObject({
      code: 'VERIFY_FAILED',
      message: expect.stringMatching(/^ledger\/.*: expected the SHA-256 [0-9a-f]{64}, found [0-9a-f]{64}$/),
    })
  },
)
