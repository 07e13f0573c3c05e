/** Takes the exit code of a command that ends without a throw. */
export type Finish = (exit: number) => void
