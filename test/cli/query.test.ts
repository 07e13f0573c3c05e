import { Readable } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { runInProcess } from '../helpers/in-process.ts'

/** Puts this in place of what is typed. */
function typeIn(typed: string, isTTY: boolean): void {
  const stdin = Object.assign(Readable.from([typed]), { isTTY }) as unknown as typeof process.stdin
  const given = vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdin)
  onTestFinished(() => given.mockRestore())
}

test.for([
  { where: 'on a terminal', isTTY: true, says: /^type statements, .+ Ctrl-D on a line of its own\nUSAGE: / },
  { where: 'from a file', isTTY: false, says: /^USAGE: there is no statement to ask\n/ },
])('a query without a statement $where says what it waits for, or lacks', async ({ isTTY, says }) => {
  typeIn(' \n', isTTY)
  const { exit, stderr } = await runInProcess(['query', '.'])
  expect(exit).toBe(2)
  expect(stderr).toMatch(says)
})
