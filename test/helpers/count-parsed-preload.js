// Preloaded by NODE_OPTIONS=--import: appends a line to the file PARSED_LOG for each thread of the program, and for each JSON
// text of 1,000 characters or more that a thread parses.
import { appendFileSync } from 'node:fs'
import { threadId } from 'node:worker_threads'

const { parse } = JSON
const note = (entry) => appendFileSync(process.env.PARSED_LOG, `${JSON.stringify(entry)}\n`)
note({ thread: threadId })
JSON.parse = (text, reviver) => {
  if (text.length >= 1_000) note({ parsed: text.length })
  return parse(text, reviver)
}
