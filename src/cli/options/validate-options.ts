import { type Argument, type Command, InvalidArgumentError, type Option } from 'commander'
import { ExportError } from '../../core/model/errors.ts'
import { nearest } from '../../core/model/suggest.ts'
import { collect } from './collect.ts'

/**
 * Has a command refuse an option's name where a value belongs (`--output --format csv` names no folder), refuse two values where
 * one would be lost, and suggest what was meant where a value is none of the choices.
 */
export function guardOptions({ options, registeredArguments }: Command): void {
  for (const taker of [...options, ...registeredArguments]) suggestChoice(taker)
  const names = options.flatMap(({ long, short }) => [long, short])
  for (const option of options) if (option.required) guardValue(option, names)
}

function suggestChoice(taker: Option | Argument): void {
  const { argChoices, parseArg } = taker
  if (argChoices === undefined || parseArg === undefined) return
  taker.argParser((value: string, previous: unknown) => {
    const near = argChoices.includes(value) ? undefined : nearest(value, argChoices)
    if (near === undefined) return parseArg(value, previous)
    throw new InvalidArgumentError(`Did you mean ${near}? Allowed choices are ${argChoices.join(', ')}.`)
  })
}

function guardValue(option: Option, names: readonly (string | undefined)[]): void {
  const { flags, parseArg } = option
  let given: string | undefined
  option.argParser((value: string, previous: unknown) => {
    if (names.includes(value))
      throw new ExportError('USAGE', `option '${flags}' has no value before ${value}`)
    // The values may be secrets.
    if (parseArg !== collect && given !== undefined && given !== value)
      throw new ExportError('USAGE', `option '${flags}' is given twice, with different values`, {
        fix: 'Give it once.',
      })
    given = value
    return parseArg === undefined ? value : parseArg(value, previous)
  })
}
