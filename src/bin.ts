#!/usr/bin/env node
import { NODE_VERSION } from './core/platform/node-version.ts'

const { major, minor } = NODE_VERSION
const [runningMajor = 0, runningMinor = 0] = process.versions.node.split('.').map(Number)

if (runningMajor < major || (runningMajor === major && runningMinor < minor)) {
  const required = `${major}.${minor}`
  end(2, `walletlake needs Node ${required} or newer; this is Node ${process.versions.node}.`)
} else {
  try {
    process.cwd()
    // Imported dynamically because older versions of Node lack modules that it imports.
    const { startCli } = await import('./cli/start-cli.ts')
    await startCli()
  } catch (error) {
    endWithoutStart(error)
  }
}

/** Reports errors that prevent the program from starting. The error reporting of the CLI is not loaded yet. */
function endWithoutStart(error: unknown): void {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (syscall === 'uv_cwd')
    end(
      2,
      'USAGE: the working directory no longer exists\nfix: Change to a folder that exists, then run again.',
    )
  else if (code === 'EMFILE' || code === 'ENFILE')
    end(7, 'OUTPUT_FAILED: too many open files\nfix: Raise the limit (ulimit -n 4096), then run again.')
  else throw error
}

function end(exit: number, text: string): void {
  process.stderr.write(`${text}\n`)
  process.exitCode = exit
}
