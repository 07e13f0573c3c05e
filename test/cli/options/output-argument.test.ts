import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runInProcess } from '../../helpers/in-process.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

test.for(['verify', 'query', 'compact'])(
  '%s says where the output of a job is looked for if it is not there',
  async (command) => {
    const job = join(tempFolder(), 'mine.json')
    const addresses = [`0x${'1'.repeat(40)}`]
    writeFileSync(
      job,
      JSON.stringify({ chain: 1, addresses, output: 'no/such', service: { baseUrl: 'demo' } }),
    )
    const { exit, stderr } = await runInProcess([command, job])
    expect(stderr).toBe(
      `USAGE: there is no output folder no/such of the job ${job}\n` +
        'fix: Run the job first, or start this in the folder where it was run: output paths are relative to the working folder.\n',
    )
    expect(exit).toBe(2)
  },
)

test('verify says that a folder holds no export, as other commands do', async () => {
  const folder = tempFolder()
  const { exit, stderr } = await runInProcess(['verify', folder])
  expect(stderr).toMatch(
    /^USAGE: .+ holds no finished export \(no manifest\.json\)\nfix: Name the output .+\n$/,
  )
  expect(exit).toBe(2)
})
