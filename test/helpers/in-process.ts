import { onTestFinished, vi } from 'vitest'
import { main } from '../../src/cli/main.ts'

/** Runs a command line in this process, for commands that end early. Sets only these WALLETLAKE_ variables. */
export async function runInProcess(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ exit: number; stdout: string; stderr: string }> {
  const [stdout, stderr] = [captureWrites(process.stdout), captureWrites(process.stderr)]
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  for (const name of Object.keys(process.env)) if (name.startsWith('WALLETLAKE_')) vi.stubEnv(name, undefined)
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  const exit = await main(args)
  return { exit, stdout: stdout.join(''), stderr: stderr.join('') }
}

/** Captures all later writes to a stream instead of writing them. */
function captureWrites(stream: NodeJS.WriteStream): string[] {
  const written: string[] = []
  const write = vi.spyOn(stream, 'write').mockImplementation((chunk) => written.push(String(chunk)) > 0)
  onTestFinished(() => write.mockRestore())
  return written
}
