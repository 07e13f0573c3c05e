/** Takes the exit code of a command that ends without a throw. */
export type SetExitCode = (exit: number) => void
