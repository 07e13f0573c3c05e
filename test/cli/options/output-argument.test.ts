import { expect, test } from 'vitest'
import { runCommand } from '../../helpers/command.ts'
import { writeJobFile } from '../../helpers/jobs.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

test.for(['verify', 'query', 'compact'])(
  '%s states where it looked for the output of a job',
  async (command) => {
    const addresses = [`0x${'1'.repeat(40)}`]
    const { job } = writeJobFile('mine', { addresses, output: 'no/such', service: { baseUrl: 'demo' } })
    const { exit, stderr } = await runCommand([command, job])
    expect(stderr).toBe(
      `USAGE: there is no output folder no/such of the job ${job}\n` +
        'fix: Run the job first, or start this in the folder where it was run: output paths are relative to the working folder.\n',
    )
    expect(exit).toBe(2)
  },
)

test('verify reports a folder without an export like other commands', async () => {
  const folder = tempFolder()
  const { exit, stderr } = await runCommand(['verify', folder])
  expect(stderr).toMatch(
    /^USAGE: .+ holds no finished export \(no manifest\.json\)\nfix: Name the output .+\n$/,
  )
  expect(exit).toBe(2)
})
