import { APIS, type Api, DEFAULT_API } from '../../core/model/api.ts'
import { TIERS } from '../../core/model/compute-units.ts'
import { FORMAT_NAMES, type FormatName } from '../../core/model/model.ts'
import { compressionChoices } from '../fields/field-types.ts'

/** Values of a new job file. The template contains the other fields as comments. */
export type NewJob = {
  /** Path of the file, for the commands in its first comment. */
  readonly file: string
  /** Set if the file name is not a valid job name. */
  readonly name: string | undefined
  readonly chain: string
  /** Addresses as given, in any letter case. */
  readonly wallets: readonly { readonly address: string; readonly label: string | null }[]
  readonly baseUrl: string
  /** Undefined for the default. */
  readonly api: Api | undefined
  readonly format: FormatName
  readonly startBlock: number | undefined
}

/** Returns a job file in YAML, with a comment for every field that is often changed. */
export function jobTemplate({ file, name, chain, wallets, format, startBlock, ...service }: NewJob): string {
  return `# A walletlake job: which wallets to export, and where to.
#
#   walletlake validate ${file}    checks this file; sends no request
#   walletlake plan ${file}        estimates the requests of a run; sends no request
#   walletlake run ${file}         exports; run it again to resume, or later to add new blocks
#
# The API key is never in a job file. Set the environment variable WALLETLAKE_API_KEY, or WALLETLAKE_API_KEY_FILE to the
# path of a file that contains it.

# Name of the output folder. Default: the name of this file without .yaml.
${name === undefined ? '# name: my-wallets' : `name: ${name}`}

# EVM chain id, or the blockchain id that the data service uses.
chain: ${/^\d+$/.test(chain) ? chain : JSON.stringify(chain)}

# Wallets to export, each with an optional label. Put addresses in quotes. To read many wallets from a CSV file with the header
# address,label (or one address per line), replace addresses with:  addressesFile: wallets.csv
addresses:
${wallets.map(walletLine).join('\n')}

# First block (inclusive). Default: 0. To end at a fixed block (exclusive) instead of the head of the chain, add:  endBlock: 50000000
${startBlock === undefined ? '# startBlock: 17000000' : `startBlock: ${startBlock}`}

# Leave transactions younger than this to the next run. Use it on a chain with deep reorgs, or if the data service indexes late.
# finality: 10m

# Tables to write. Default: all seven.
# tables: [transactions, erc20_transfers, ledger]

# ${FORMAT_NAMES.join(' or ')}. Compression ${compressionChoices()
    .map((choice) => `for ${choice}`)
    .join('; ')}.
format: ${format}
# compression: gzip

# Output folder, relative to the working directory, or s3://bucket/prefix. Default: output/ followed by the name.
# output: /data/wallets

# Maximum number of requests in flight. walletlake stays within the rate limit of the service with any value.
# concurrency: 16

service:
  # URL of the data service; demo is the embedded one. --base-url and WALLETLAKE_BASE_URL override it.
  baseUrl: ${JSON.stringify(service.baseUrl)}
  # API of the service: ${APIS.join(', ').replace(/, ([\w-]+)$/, ' or $1')}. Default: that of the host if it is known, otherwise ${DEFAULT_API}.
  ${service.api === undefined ? '# api: etherscan' : `api: ${service.api}`}
  # Timeout of one request.
  # timeout: 30s
  # Tier of your API key, if you know it: sending starts at its rate, and a run ends before a day's compute units are used up.
  # tier: ${TIERS.join(', ').replace(/, (\w+)$/, ' or $1')}
`
}

function walletLine({ address, label }: NewJob['wallets'][number]): string {
  return label === null
    ? `  - ${JSON.stringify(address)}`
    : `  - { address: ${JSON.stringify(address)}, label: ${JSON.stringify(label)} }`
}
