/**
 * Commands are data: the parser, the help and the types of the arguments derive from them.
 *
 * To add a command, write one file in `commands/` that exports `command = defineCommand({ … })`, and list it in
 * `commands/index.ts`. To add an option, add one entry to the options of its command, or to `options/` if several commands
 * have it; `run` receives its parsed value under the option's name in camel case.
 */
export type Command = {
  readonly name: string
  /** Description in the list of commands. */
  readonly summary: string
  /** First paragraph of the help of the command. @default summary */
  readonly description?: string
  readonly arguments: readonly Argument[]
  readonly options: readonly Option[]
  /** Titles of groups of options in the help, with the names of their options; the others follow. @default one group */
  readonly groups?: Readonly<Record<string, readonly string[]>>
  readonly examples?: readonly Example[]
  /** Lines of at most 80 columns below the examples. */
  readonly epilogue?: string
  run(args: CommandArguments): CommandResult
}

/** Values by name in camel case. Arguments and options that are not given and have no default are absent. */
export type CommandArguments = Readonly<Record<string, unknown>>

/** The exit code, or nothing for 0. A thrown error is reported on stderr and determines the exit code. */
type CommandResult = Promise<number> | Promise<void>

/** A command line without the name of the program, and its description. */
type Example = readonly [line: string, description: string]

/** Common properties of arguments and options. */
type Parameter = {
  /** A word for arguments; in kebab case, without leading dashes, for options. Unique within a command. */
  readonly name: string
  /** Sentence case, without a full stop. The help adds choices and default. */
  readonly description: string
  readonly required?: true
  /** May be given several times. The values form an array. */
  readonly repeatable?: true
  readonly choices?: readonly string[]
  readonly default?: string
}

/** A positional argument. Optional arguments follow required ones; only the last may be repeatable. */
export type Argument = Parameter

/** An option, given as `--name`. */
export type Option = Parameter & {
  /** A second name of one letter, given as `-a`. */
  readonly alias?: string
  /** Placeholder of the value in the help, such as `<n>`. Without it, the option is a flag. */
  readonly value?: string
  /**
   * The option can also be given as `--no-name`, which is false and, for a flag, the form that the help shows. The last form
   * counts.
   */
  readonly negatable?: true
  /** The value may be left out, and is then true. Otherwise it follows an equals sign: `--name=value`. */
  readonly optionalValue?: true
  /** Names of options that exclude this one. */
  readonly conflicts?: readonly string[]
  /** Converts the value, or the default. Throws USAGE. @default the text itself */
  readonly parse?: (text: string, name: string) => unknown
  /** Accepted, but not shown in the help. */
  readonly hidden?: boolean
}

type OptionRules = Omit<Option, 'name' | 'value' | 'description'>

/** Declares an option by its name and the placeholder of its value: `option('at <time>', 'At this time')`. */
export function option<
  const Name extends string,
  const Value extends string,
  const Rules extends OptionRules,
>(
  term: `${Name} ${Value}`,
  description: string,
  rules?: Rules,
): { readonly name: Name; readonly value: Value; readonly description: string } & Rules
/** Declares a flag by its name. */
export function option<const Name extends string, const Rules extends OptionRules>(
  name: Name,
  description: string,
  rules?: Rules,
): { readonly name: Name; readonly description: string } & Rules
export function option(term: string, description: string, rules: OptionRules = {}): Option {
  const [name = '', value] = term.split(' ')
  return { name, ...(value === undefined ? {} : { value }), description, ...rules }
}

/** Defines a command. The types of the arguments of `run` are inferred from its arguments and options. */
export function defineCommand<
  const Arguments extends readonly Argument[],
  const Options extends readonly Option[],
>(
  command: Omit<Command, 'arguments' | 'options' | 'run'> & {
    readonly arguments: Arguments
    readonly options: Options
    run(args: ArgumentValues<Arguments> & OptionValues<Options>): CommandResult
  },
): Command {
  return command
}

/** The same options, not shown in the help. */
export function hideOptions<const Options extends readonly Option[]>(options: Options) {
  return options.map((option: Options[number]) => ({ ...option, hidden: true }))
}

/** The values of options, by name in camel case. */
export type OptionValues<Options extends readonly Option[]> = Values<Options[number], HasValue>

type ArgumentValues<Arguments extends readonly Argument[]> = Values<
  Arguments[number] & { readonly value: string },
  HasValue | { readonly repeatable: true }
>

/** Parameters that always have a value. */
type HasValue = { readonly required: true } | { readonly default: string }

type Values<Parameters extends Option, AlwaysSet> = {
  [P in Extract<Parameters, AlwaysSet> as CamelCase<P['name']>]: Value<P>
} & {
  [P in Exclude<Parameters, AlwaysSet> as CamelCase<P['name']>]?: Value<P>
}

type Value<P extends Option> = P extends { readonly optionalValue: true }
  ? Text<P> | true
  : P extends { readonly value: string; readonly negatable: true }
    ? Text<P> | false
    : Text<P>

type Text<P extends Option> = P extends { readonly value: string }
  ? P extends { readonly repeatable: true }
    ? string[]
    : P extends { readonly parse: (...texts: never) => infer Parsed }
      ? Parsed
      : P extends { readonly choices: readonly (infer Choice extends string)[] }
        ? Choice
        : string
  : boolean

type CamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name
