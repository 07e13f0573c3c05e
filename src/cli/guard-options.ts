import type { Command, Option } from 'commander'
import { ExportError } from '../core/errors.ts'

/** Has a command refuse an option's name where a value belongs: `--output --format csv` names no folder. */
export function guardOptions({ options }: Command): void {
  const names = options.flatMap(({ long, short }) => [long, short])
  for (const option of options) if (option.required) guardValue(option, names)
}

function guardValue(option: Option, names: readonly (string | undefined)[]): void {
  const { flags, parseArg } = option
  option.argParser((value: string, previous: unknown) => {
    if (names.includes(value))
      throw new ExportError('USAGE', `option '${flags}' has no value before ${value}`)
    return parseArg === undefined ? value : parseArg(value, previous)
  })
}
