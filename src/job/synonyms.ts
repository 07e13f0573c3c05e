/** What people call a thing that has another name here: words without letter case, `-` and `_`, by their meaning. */
export type Synonyms = ReadonlyMap<string, string>

/** Words for the fields of a job. */
export const FIELD_SYNONYMS: Synonyms = synonymsFrom({
  name: 'id title job jobname',
  kind: 'mode jobkind',
  chain: 'network networkid networkname blockchain blockchainid chainname chains evmchainid',
  addresses: 'wallets wallet address addr addrs accounts account walletaddresses list',
  addressesFile: 'file csv walletsfile walletfile addressfile addresslist addressescsv accountsfile',
  startBlock: 'start from begin first since fromblock firstblock blockfrom blockstart',
  endBlock: 'end to until last toblock lastblock untilblock blockto blockend',
  tables: 'datasets columns include',
  format: 'fileformat outputformat filetype',
  output: 'out folder dir directory outdir outputdir outputfolder path destination target',
  maxRowsPerFile: 'rows maxrows rowsperfile rowlimit',
  partitionBy: 'partition partitions partitioning groupby',
  targetFileSize: 'maxfilesize filesize maxsize',
  concurrency: 'parallel parallelism threads workers connections maxconcurrency',
  finality: 'confirmations delay lag reorgdepth',
  nativeSymbol: 'symbol coin currency nativecoin nativecurrency',
  keepRaw: 'raw saveraw',
  service: 'provider server',
  'service.baseUrl': 'url uri baseurl rpc rpcurl endpoint api apiurl host serviceurl serverurl baseuri',
  'service.apiKeyHeader': 'header headername keyheader authheader',
  'service.timeout': 'timeoutms requesttimeout timeoutseconds',
})

/** Words for the fields of `service`. */
export const SERVICE_SYNONYMS: Synonyms = new Map(
  [...FIELD_SYNONYMS]
    .filter(([, path]) => path.startsWith('service.'))
    .map(([word, path]) => [word, path.slice('service.'.length)]),
)

/** Words for the fields of an address with a label. */
export const ENTRY_SYNONYMS: Synonyms = synonymsFrom({
  address: 'wallet account addr hash',
  label: 'name tag alias title note comment description',
})

function synonymsFrom(byField: Readonly<Record<string, string>>): Synonyms {
  return new Map(
    Object.entries(byField).flatMap(([field, text]) =>
      text.split(' ').map((synonym) => [synonym, field] as const),
    ),
  )
}
