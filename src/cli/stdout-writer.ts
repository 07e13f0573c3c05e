import { printable } from '../terminal/log.ts'
import type { ResultSink } from '../terminal/write-query-result.ts'

/**
 * Writes to stdout, as fast as its reader takes it. Pipes and files get the exact text; a terminal gets control characters
 * replaced visibly, since it would obey those that are in names and metadata. Faults of stdout are handled by the process.
 */
export function stdoutWriter(): ResultSink {
  const { stdout } = process
  return {
    write: async (text) => {
      if (!stdout.write(stdout.isTTY ? printable(text) : text)) await waitForDrain(stdout)
    },
    width: stdout.isTTY ? stdout.columns : undefined,
  }
}

function waitForDrain(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      for (const event of WRITABLE_EVENTS) stream.off(event, finish)
      resolve()
    }
    for (const event of WRITABLE_EVENTS) stream.on(event, finish)
  })
}

const WRITABLE_EVENTS = ['drain', 'close', 'error']
