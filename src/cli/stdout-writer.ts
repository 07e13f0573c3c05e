import { printable } from '../terminal/log.ts'
import type { ResultSink } from '../terminal/write-query-result.ts'

/**
 * Writes to stdout with back-pressure. Pipes and files receive the exact text. On a terminal, control characters are
 * replaced by visible ones, because names and metadata are untrusted. Errors of stdout are handled by `validateOutput`.
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
