import { execFileSync } from 'node:child_process'

/** Makes a named pipe: what a user's path may lead to, and no file. */
export function makeNamedPipe(path: string): void {
  execFileSync('mkfifo', [path])
}
