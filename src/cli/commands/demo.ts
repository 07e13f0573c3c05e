import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DEFAULT_API } from '../../core/model/api.ts'
import { PACKAGE } from '../../core/model/version.ts'
import { writeNamedFile } from '../../core/platform/user-file.ts'
import { print } from '../../terminal/print.ts'
import { shellQuote } from '../../terminal/shell-quote.ts'
import { defineCommand, hideOptions, type OptionValues, option } from '../command.ts'
import { overrideOptions, readJobs } from '../options/jobs.ts'
import { logOptions } from '../options/log.ts'
import { programName } from '../program-name.ts'
import { runJobs } from '../run-jobs.ts'

const options = [
  ...hideOptions(overrideOptions.filter(({ name }) => name !== 'api')),
  option('api <name>', 'Read the wallets from the embedded data service, or from the API of an explorer', {
    choices: ['data-api', 'etherscan'],
    default: DEFAULT_API,
  }),
  option('fresh', 'Discard the existing export and start over'),
  option('json', 'Print a JSON summary on stdout at the end'),
  ...logOptions,
]
type DemoArguments = OptionValues<typeof options>

export const command = defineCommand({
  name: 'demo',
  summary: 'Export the wallets of a made-up person; needs no account',
  description:
    'Export five wallets of a made-up person to output/demo, compare them with the balances that the embedded service reports, and write a report. Needs no account and no network.',
  arguments: [],
  options,
  examples: [
    ['demo', 'From the embedded data service'],
    ['demo --api etherscan', 'From the API of an explorer, to output/demo-etherscan'],
  ],
  run: async (args) => {
    const { output = args.api === DEFAULT_API ? 'output/demo' : `output/demo-${args.api}` } = args
    const jobs = await readJobs([demoJobFile()], { ...args, output })
    const hasLedger = jobs.every(({ tables }) => tables.includes('ledger'))
    const settings = { hasNextSteps: false, reconcile: hasLedger ? {} : undefined }
    const exit = await runJobs(async () => jobs, { ...args, ...settings })
    const [job] = jobs
    if (exit === 0 && hasLedger && job?.store === undefined) await showResult(output, args)
    return exit
  },
})

/** The job file is part of the package. */
function demoJobFile(): string {
  return relative('', fileURLToPath(new URL('jobs/examples/demo.yaml', PACKAGE)))
}

/** Writes the prices and the report, and says what to open and what to try. */
async function showResult(output: string, { json, quiet }: DemoArguments): Promise<void> {
  const [{ portfolioPriceFile }, { report }] = await Promise.all([
    import('../../demo-server/portfolio-prices.ts'),
    import('../../html-report/report.ts'),
  ])
  const prices = join(output, 'prices.csv')
  await writeNamedFile(prices, portfolioPriceFile())
  const { file } = await report([output], { prices, title: 'Demo portfolio', links: false })
  if (json || quiet) return
  const [folder, list] = [shellQuote(output), shellQuote(prices)]
  const program = programName()
  print([
    `Open ${file} in a browser: the report, with made-up prices.`,
    '',
    'Try:',
    `  ${program} balances ${folder}`,
    `  ${program} statement ${folder} --year 2025 --prices ${list}`,
    `  ${program} convert ${folder} --to koinly --per-wallet --out koinly`,
    `  ${program} query ${folder} "FROM transactions LIMIT 5"`,
    `  ${program} init    # a job of your own`,
  ])
}
