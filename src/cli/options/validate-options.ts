import { type Argument, type Command, InvalidArgumentError, type Option } from 'commander'
import { ExportError } from '../../core/model/errors.ts'
import { suggest } from '../../core/model/suggest.ts'
import { collect } from './collect.ts'

/**
 * Has a command refuse an option's name where a value belongs (`--output --format csv` names no folder), refuse two values where
 * one would be lost, and suggest what was meant where a value is none of the choices.
 */
export function validateOptions({ options, registeredArguments }: Command): void {
  for (const parameter of [...options, ...registeredArguments]) suggestChoice(parameter)
  const names = options.flatMap(({ long, short }) => [long, short])
  for (const option of options) if (option.required) validateValue(option, names)
}

function suggestChoice(parameter: Option | Argument): void {
  const { argChoices, parseArg } = parameter
  if (argChoices === undefined || parseArg === undefined) return
  parameter.argParser((value: string, previous: unknown) => {
    const suggestion = argChoices.includes(value) ? undefined : suggest(value, argChoices)
    if (suggestion === undefined) return parseArg(value, previous)
    throw new InvalidArgumentError(
      `Did you mean ${suggestion}? Allowed choices are ${argChoices.join(', ')}.`,
    )
  })
}

function validateValue(option: Option, names: readonly (string | undefined)[]): void {
  const { flags, parseArg } = option
  let firstValue: string | undefined
  option.argParser((value: string, previous: unknown) => {
    if (names.includes(value))
      throw new ExportError('USAGE', `option '${flags}' has no value before ${value}`)
    // The values may be secrets.
    if (parseArg !== collect && firstValue !== undefined && firstValue !== value)
      throw new ExportError('USAGE', `option '${flags}' is given twice, with different values`, {
        fix: 'Give it once.',
      })
    firstValue = value
    return parseArg === undefined ? value : parseArg(value, previous)
  })
}
