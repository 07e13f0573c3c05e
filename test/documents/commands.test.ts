import { describe, expect, test } from 'vitest'
import { runCommand } from '../helpers/command.ts'
import { blocksOf, pageAt } from './pages.ts'

const PAGES = [
  'README.md',
  'jobs/README.md',
  'jobs/ACCOUNTING.md',
  'jobs/schedule/README.md',
  'jobs/schedule/install.md',
  'jobs/schedule/CLUSTER.md',
  'output/README.md',
  'src/README.md',
  'src/demo-server/README.md',
  'CONTRIBUTING.md',
]

/** All command lines of a page, from code blocks and inline code, without shell comments. */
function linesIn(page: string): string[] {
  const lines = blocksOf(page).flatMap(({ text }) => text.split('\n'))
  const inline = [...page.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`]+)`/g)].map(
    ([, code = '']) => code,
  )
  return [...lines, ...inline]
    .flatMap((line) => /(?<=^|sudo |bin\/)walletlake [a-z]+.*/.exec(line) ?? [])
    .map(withoutComment)
}

const withoutComment = (line: string) => line.replace(/\s+#.*$/, '')
const commandOf = (line: string) => line.split(' ')[1] ?? ''
const lines = [...new Set(PAGES.flatMap((path) => linesIn(pageAt(path))))]
const commands = [...new Set(lines.map(commandOf))].sort()

test('the pages use most commands of the program', () => {
  expect(commands.length).toBeGreaterThan(12)
})

describe.for(commands)('walletlake %s', (command) => {
  test('exists and has every option that the pages use', async () => {
    const { exit, stdout } = await runCommand([command, '--help'])
    expect(exit).toBe(0)
    const given = lines.filter((line) => commandOf(line) === command)
    const options = given.flatMap((line) => line.match(/(?<=\s)--[a-z-]+/g) ?? [])
    expect(options.filter((option) => !stdout.includes(option))).toEqual([])
  })
})
