import { onTestFinished, vi } from 'vitest'
import { main } from '../../src/cli/main.ts'

/** Runs a command line in this process, for what ends before any work begins; no variable of ours is set but these. */
export async function runInProcess(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ exit: number; stderr: string }> {
  const said: string[] = []
  const written = vi
    .spyOn(process.stderr, 'write')
    .mockImplementation((chunk) => said.push(String(chunk)) > 0)
  onTestFinished(() => {
    written.mockRestore()
    vi.unstubAllEnvs()
  })
  for (const name of Object.keys(process.env)) if (name.startsWith('WALLETLAKE_')) vi.stubEnv(name, undefined)
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  const exit = await main(args)
  return { exit, stderr: said.join('') }
}
