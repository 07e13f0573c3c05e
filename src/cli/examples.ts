import type { Command } from 'commander'
import { programName } from './program-name.ts'

type Example = readonly [line: string, what: string]

/** Adds examples to a command's help, each a line to copy below what it does. */
export function addExamples(command: Command, ...examples: readonly Example[]): Command {
  const lines = examples.flatMap(([line, description]) => [
    `  # ${description}`,
    wrapLine(`  ${programName()} ${line}`),
  ])
  return command.addHelpText('after', ['', 'Examples:', ...lines].join('\n'))
}

const COLUMNS = 80

/** Breaks a line that is too wide before an option, as a shell takes it. */
function wrapLine(line: string): string {
  const at = line.length <= COLUMNS ? -1 : line.lastIndexOf(' --', COLUMNS - 2)
  return at < 0 ? line : `${line.slice(0, at)} \\\n   ${line.slice(at)}`
}
