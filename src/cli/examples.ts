import type { Command } from 'commander'
import { programName } from './program-name.ts'

type Example = readonly [line: string, what: string]

/** Adds examples to a command's help, each a line to copy below what it does. */
export function addExamples(command: Command, ...examples: readonly Example[]): Command {
  const lines = examples.flatMap(([line, what]) => [`  # ${what}`, `  ${programName()} ${line}`])
  return command.addHelpText('after', ['', 'Examples:', ...lines].join('\n'))
}
