import { execFileSync } from 'node:child_process'

/** Creates a named pipe: a path that is not a regular file. */
export function makeNamedPipe(path: string): void {
  execFileSync('mkfifo', [path])
}
