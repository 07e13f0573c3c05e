import type { Format } from '../core/model.ts'

/** What a new job file says; all else stands in it as a comment. */
export type NewJob = {
  /** Where it is going to be, for the commands in its first comment. */
  readonly file: string
  /** Where the file's own name is none for a job. */
  readonly name: string | undefined
  readonly chain: string
  /** Addresses as they were given, in any letter case. */
  readonly wallets: readonly { readonly address: string; readonly label: string | null }[]
  readonly baseUrl: string
  readonly format: Format
  readonly startBlock: number | undefined
}

/** A job file in YAML, with a comment for every field that most jobs change sooner or later. */
export function jobText({ file, name, chain, wallets, baseUrl, format, startBlock }: NewJob): string {
  return `# A job: which wallets of which chain go into which files.
#
#   walletlake validate ${file}    checks this file and asks the service nothing
#   walletlake plan ${file}        shows what a run would request
#   walletlake run ${file}         exports; run it again to resume, or later to add new blocks
#
# The key never stands in a job: set WALLETLAKE_API_KEY, or WALLETLAKE_API_KEY_FILE to a file that holds it.

# Names the output folder. Without it, this file's name without .yaml.
${name === undefined ? '# name: my-wallets' : `name: ${name}`}

# EVM chain id, or the service's own id of the chain.
chain: ${/^\d+$/.test(chain) ? chain : JSON.stringify(chain)}

# The wallets, each with a label of yours if you like. Quote addresses. For many, put them into a file
# (CSV with the header address,label, or one address a line) and write instead:  addressesFile: wallets.csv
addresses:
${wallets.map(walletLine).join('\n')}

# From the first block to the newest. For a fixed range add:  endBlock: 50000000  (itself not included)
${startBlock === undefined ? '# startBlock: 17000000' : `startBlock: ${startBlock}`}

# On a chain that takes blocks back, or whose index lags, leave the newest minutes for the next run.
# finality: 10m

# All seven tables are written unless you name some.
# tables: [transactions, erc20_transfers, ledger]

# csv or parquet. csv may be compressed with gzip; parquet is compressed with zstd unless you say otherwise.
format: ${format}
# compression: gzip

# Where the files go, from the folder that you run in. Without it, output/ and the name.
# output: /data/wallets

# Requests in flight at once, at most. The service's rate limit is obeyed whatever stands here.
# concurrency: 16

service:
  # --base-url and WALLETLAKE_BASE_URL win over this; demo is the embedded service.
  baseUrl: ${JSON.stringify(baseUrl)}
  # Time for one request.
  # timeout: 30s
`
}

function walletLine({ address, label }: NewJob['wallets'][number]): string {
  return label === null
    ? `  - ${JSON.stringify(address)}`
    : `  - { address: ${JSON.stringify(address)}, label: ${JSON.stringify(label)} }`
}
