import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exportDemo } from './demo-export.ts'
import { outputBytes } from './output-bytes.ts'
import { readManifest } from './read-output.ts'
import { tempFolder } from './temp-folder.ts'

test('a changed demo export does not change later copies, and other options are another export', async () => {
  const folder = tempFolder()
  const [first, second, other] = [join(folder, 'first'), join(folder, 'second'), join(folder, 'other')]
  await exportDemo(first, { endBlock: 3, tables: ['ledger'] })
  const bytes = outputBytes(first)
  rmSync(join(first, 'ledger'), { recursive: true })
  await exportDemo(second, { endBlock: 3, tables: ['ledger'] })
  expect(outputBytes(second)).toEqual(bytes)
  await exportDemo(other, { endBlock: 2, tables: ['ledger'] })
  expect(readManifest(other).job.endBlock).toBe(2)
})
