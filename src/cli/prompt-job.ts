import { createInterface } from 'node:readline'
import { APIS, DEFAULT_API } from '../core/model/api.ts'
import { ExportError } from '../core/model/errors.ts'
import { knownServiceOf } from '../core/model/known-services.ts'
import { FORMAT_NAMES } from '../core/model/model.ts'
import { FIELDS } from '../job/fields/fields.ts'
import { checkOptions } from '../job/read-job.ts'
import type { JobOverrides } from '../job/resolve/overrides.ts'

/** Values of a new job, by the names of the command-line options. */
export type JobInputs = Pick<JobOverrides, 'chain' | 'address' | 'baseUrl' | 'api' | 'format' | 'startBlock'>

/** Streams for prompts and input. */
export type Terminal = { input: NodeJS.ReadableStream; output: NodeJS.WritableStream }

/** Prompts for missing values one by one, and repeats a prompt after invalid input. Throws INTERRUPTED if the input ends. */
export async function promptForJob(inputs: JobInputs, terminal: Terminal): Promise<JobInputs> {
  const { prompt, close } = openPrompts(terminal)
  try {
    const chain = inputs.chain ?? (await prompt({ text: CHAIN_PROMPT, toOption: (chain) => ({ chain }) }))
    const address = inputs.address ?? (await promptForWallets(prompt))
    const baseUrl =
      inputs.baseUrl ?? (await prompt({ text: BASE_URL_PROMPT, toOption: (baseUrl) => ({ baseUrl }) }))
    const api = inputs.api ?? (await promptForApi(baseUrl, prompt))
    const format =
      inputs.format ??
      (await prompt({
        text: FORMAT_PROMPT,
        defaultValue: FIELDS.format.default,
        toOption: (format) => ({ format }),
      }))
    return { ...inputs, chain, address, baseUrl, ...(api === undefined ? {} : { api }), format }
  } finally {
    close()
  }
}

const CHAIN_PROMPT = 'Chain id (1 Ethereum, 43114 Avalanche, 8453 Base, …):'
const WALLET_PROMPT = 'Wallet, and a label if you like (0x… savings):'
const NEXT_WALLET_PROMPT = 'Another wallet, or Enter to go on:'
const BASE_URL_PROMPT = 'URL of the data service (demo is the embedded one):'
const API_PROMPT = `API of the service, ${APIS.join(', ')} [${DEFAULT_API}]:`
const FORMAT_PROMPT = `Format, ${FORMAT_NAMES.join(' or ')} [${FIELDS.format.default}]:`

type Prompt = {
  text: string
  /** Value of empty input. Without it, the prompt is repeated. */
  defaultValue?: string
  /** Converts the input to an option, which is validated. */
  toOption: (answer: string) => JobOverrides
}
type PromptFn = (question: Prompt) => Promise<string>

async function promptForWallets(prompt: PromptFn): Promise<string[]> {
  const toOption = (previous: readonly string[]) => (input: string) => ({
    address: [...previous, parseWalletInput(input)],
  })
  const wallets = [parseWalletInput(await prompt({ text: WALLET_PROMPT, toOption: toOption([]) }))]
  while (true) {
    const withWallet = toOption(wallets)
    const input = await prompt({
      text: NEXT_WALLET_PROMPT,
      defaultValue: '',
      toOption: (text) => (text === '' ? {} : withWallet(text)),
    })
    if (input === '') return wallets
    wallets.push(parseWalletInput(input))
  }
}

/** Prompts for the API of a service unless its base URL implies it. */
async function promptForApi(baseUrl: string, prompt: PromptFn): Promise<string | undefined> {
  if (baseUrl === 'demo' || knownServiceOf(baseUrl) !== undefined) return undefined
  return prompt({ text: API_PROMPT, defaultValue: DEFAULT_API, toOption: (api) => ({ api }) })
}

/** Converts `0x… label` to the form of the command line, `0x…=label`. */
function parseWalletInput(input: string): string {
  return input.replace(/^(\S+?)[\s,;=]+/, '$1=')
}

function openPrompts(terminal: Terminal): { prompt: PromptFn; close: () => void } {
  const lines = createInterface(terminal)
  lines.on('SIGINT', () => lines.close())
  let isClosed = false
  lines.on('close', () => {
    isClosed = true
  })
  const inputs = lines[Symbol.asyncIterator]()
  const prompt: PromptFn = async ({ text, defaultValue, toOption }) => {
    lines.setPrompt(`${text} `)
    // If all input arrived at once, the interface is already closed, and from Node 24 on it does not prompt then.
    if (isClosed) terminal.output.write(lines.getPrompt())
    else lines.prompt()
    const { value, done: ended } = await inputs.next()
    if (ended) {
      terminal.output.write('\n')
      throw promptInterrupted()
    }
    const input = value.trim() === '' ? defaultValue : value.trim()
    const problem = input === undefined ? 'A value is required.' : validationError(toOption(input))
    if (problem === undefined) return input ?? ''
    terminal.output.write(`${problem}\n`)
    return prompt({ text, toOption, ...(defaultValue === undefined ? {} : { defaultValue }) })
  }
  return { prompt, close: () => lines.close() }
}

function validationError(option: JobOverrides): string | undefined {
  try {
    checkOptions(option)
    return undefined
  } catch (error) {
    return (error as ExportError).message.replace(/^--[a-z-]+: | \(first at --[a-z-]+\)/gm, '')
  }
}

function promptInterrupted(): ExportError {
  return new ExportError('INTERRUPTED', 'the input ended before the last question; no file was written', {
    fix: 'Answer all questions, or give --chain, --address and --base-url.',
  })
}
