import { printable } from '../terminal/log.ts'
import type { AnswerSink } from '../terminal/write-query-result.ts'

/**
 * Writes to stdout, as fast as its reader takes it. Pipes and files get the exact text; a terminal gets control characters
 * replaced visibly, since it would obey those that are in names and metadata. Faults of stdout are handled by the process.
 */
export function answerSink(): AnswerSink {
  const { stdout } = process
  return {
    write: async (text) => {
      if (!stdout.write(stdout.isTTY ? printable(text) : text)) await drained(stdout)
    },
    width: stdout.isTTY ? stdout.columns : undefined,
  }
}

function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      for (const event of EVENTS) stream.off(event, end)
      resolve()
    }
    for (const event of EVENTS) stream.on(event, end)
  })
}

const EVENTS = ['drain', 'close', 'error']
