import { createInterface } from 'node:readline'
import { ExportError } from '../core/model/errors.ts'
import { checkOptions } from '../job/read-job.ts'
import type { JobOverrides } from '../job/resolve/overrides.ts'

/** What a new job needs, in the words of the command line. */
export type JobAnswers = Pick<JobOverrides, 'chain' | 'address' | 'baseUrl' | 'format' | 'startBlock'>

/** Where questions are asked. */
export type Terminal = { input: NodeJS.ReadableStream; output: NodeJS.WritableStream }

/**
 * Asks for what is not given, one question after the other, and again where an answer cannot be taken. Throws
 * INTERRUPTED where the answers end.
 */
export async function askJob(given: JobAnswers, terminal: Terminal): Promise<JobAnswers> {
  const { ask, close } = openQuestions(terminal)
  try {
    const chain = given.chain ?? (await ask({ question: CHAIN, as: (chain) => ({ chain }) }))
    const address = given.address ?? (await askWallets(ask))
    const baseUrl = given.baseUrl ?? (await ask({ question: SERVICE, as: (baseUrl) => ({ baseUrl }) }))
    const format =
      given.format ?? (await ask({ question: FORMAT, fallback: 'csv', as: (format) => ({ format }) }))
    return { ...given, chain, address, baseUrl, format }
  } finally {
    close()
  }
}

const CHAIN = 'Chain id (1 Ethereum, 43114 Avalanche, 8453 Base, …):'
const WALLET = 'Wallet, and a label if you like (0x… savings):'
const NEXT_WALLET = 'Another wallet, or Enter to go on:'
const SERVICE = 'URL of the data service (demo is the embedded one):'
const FORMAT = 'Format, csv or parquet [csv]:'

type Question = {
  question: string
  /** What Enter alone stands for; without it the question is asked again. */
  fallback?: string
  /** The answer as an option, to be checked like one. */
  as: (answer: string) => JobOverrides
}
type Ask = (question: Question) => Promise<string>

async function askWallets(ask: Ask): Promise<string[]> {
  const as = (earlier: readonly string[]) => (answer: string) => ({ address: [...earlier, walletOf(answer)] })
  const wallets = [walletOf(await ask({ question: WALLET, as: as([]) }))]
  while (true) {
    const takes = as(wallets)
    const answer = await ask({
      question: NEXT_WALLET,
      fallback: '',
      as: (text) => (text === '' ? {} : takes(text)),
    })
    if (answer === '') return wallets
    wallets.push(walletOf(answer))
  }
}

/** `0x… label` as the command line has it: `0x…=label`. */
function walletOf(answer: string): string {
  return answer.replace(/^(\S+?)[\s,;=]+/, '$1=')
}

function openQuestions(terminal: Terminal): { ask: Ask; close: () => void } {
  const lines = createInterface(terminal)
  lines.on('SIGINT', () => lines.close())
  let isClosed = false
  lines.on('close', () => {
    isClosed = true
  })
  const answers = lines[Symbol.asyncIterator]()
  const ask: Ask = async ({ question, fallback, as }) => {
    lines.setPrompt(`${question} `)
    // Answers that came all at once are read when it is closed already: from Node 24 on it would not prompt any more.
    if (isClosed) terminal.output.write(lines.getPrompt())
    else lines.prompt()
    const { value, done } = await answers.next()
    if (done) {
      terminal.output.write('\n')
      throw unanswered()
    }
    const answer = value.trim() === '' ? fallback : value.trim()
    const problem = answer === undefined ? 'An answer is needed here.' : problemOf(as(answer))
    if (problem === undefined) return answer ?? ''
    terminal.output.write(`${problem}\n`)
    return ask({ question, as, ...(fallback === undefined ? {} : { fallback }) })
  }
  return { ask, close: () => lines.close() }
}

function problemOf(option: JobOverrides): string | undefined {
  try {
    checkOptions(option)
    return undefined
  } catch (thrown) {
    return (thrown as ExportError).message.replace(/^--[a-z-]+: | \(first at --[a-z-]+\)/gm, '')
  }
}

function unanswered(): ExportError {
  return new ExportError('INTERRUPTED', 'the answers ended before the last question; no file was written', {
    fix: 'Answer all questions, or give --chain, --address and --base-url.',
  })
}
