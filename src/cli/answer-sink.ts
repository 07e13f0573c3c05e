import type { AnswerSink } from '../report/write-answer.ts'

/** Writes to stdout, as fast as whoever reads it. What goes wrong there is the process's to see to. */
export function answerSink(): AnswerSink {
  const { stdout } = process
  return {
    write: async (text) => {
      if (!stdout.write(text)) await drained(stdout)
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
