import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '../../../src/export/run.ts'
import { testJob } from '../../helpers/jobs.ts'
import { demoWallets } from '../../helpers/node-data.ts'
import { tempFile, tempFolder } from '../../helpers/temp-folder.ts'

async function runInto(output: string) {
  const notices: string[] = []
  const job = testJob({ addresses: demoWallets.slice(0, 1), output })
  const { code } = await run([job], { onNotice: (notice) => notices.push(notice) })
  return { code, notices }
}

test('a run succeeds even if its report cannot be written, and reports that', async () => {
  const output = join(tempFolder(), 'out')
  mkdirSync(output)
  writeFileSync(join(output, 'runs'), '')
  expect(await runInto(output)).toEqual({
    code: undefined,
    notices: ["test: the run's report could not be written"],
  })
})

test('a run that cannot write its output reports only that error', async () => {
  const output = tempFile('out', '')
  expect(await runInto(output)).toEqual({ code: 'OUTPUT_FAILED', notices: [] })
})
