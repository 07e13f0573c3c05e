import { test } from 'vitest'
import { expectRefusal, LEAST } from './helpers.ts'

/** What is wrong with a valid job to which these lines are added. */
const WRONG: readonly (readonly [when: string, lines: string, says: string])[] = [
  [
    'startBlock is negative',
    'startBlock: -1',
    'job.yaml:3:13: startBlock: found -1, expected an integer, 0 or more',
  ],
  [
    'startBlock is text',
    `startBlock: '7'`,
    'startBlock: found "7", expected an integer, 0 or more (did you mean 7?)',
  ],
  [
    'startBlock has underscores',
    'startBlock: 17_000_000',
    'found "17_000_000", expected an integer, 0 or more (did you mean 17000000?)',
  ],
  [
    'startBlock has a fraction',
    'startBlock: 0.5',
    'job.yaml:3:13: startBlock: found 0.5, expected an integer, 0 or more',
  ],
  [
    'startBlock is beyond exact numbers',
    'startBlock: 9007199254740993',
    'startBlock: found 9007199254740993, expected an integer, 0 to 9007199254740991',
  ],
  ['endBlock is zero', 'endBlock: 0', 'job.yaml:3:11: endBlock: found 0, expected an integer, 1 or more'],
  [
    'endBlock is startBlock',
    `startBlock: 5\nendBlock: 5`,
    'job.yaml:4:11: endBlock: found 5, expected an integer greater than startBlock (5)',
  ],
  [
    'finality is set together with endBlock',
    `endBlock: 5\nfinality: 10m`,
    'job.yaml:4:11: finality: found "10m", expected no finality: it cannot be combined with endBlock',
  ],
  [
    'finality has no unit',
    `finality: 90`,
    'job.yaml:3:11: finality: found 90, expected a duration from 0s to 36500d, like 500ms, 90s, 10m, 1h or 2d (did you mean "90s"?)',
  ],
  [
    'finality has an unknown unit',
    `finality: 2w`,
    'job.yaml:3:11: finality: found "2w", expected a duration',
  ],
  [
    'tables are one text',
    `tables: ledger`,
    'job.yaml:3:9: tables: found "ledger", expected a list of at least one of transactions,',
  ],
  [
    'tables are an empty list',
    `tables: []`,
    'job.yaml:3:9: tables: found an empty list, expected a list of at least one of transactions,',
  ],
  [
    'a table is misspelt',
    `tables: [erc20_transfer]`,
    'job.yaml:3:10: tables[0]: found "erc20_transfer", expected one of transactions, erc20_transfers, erc721_transfers, erc1155_transfers, internal_transactions, atomic_transactions, wallet_transactions, ledger (did you mean "erc20_transfers"?)',
  ],
  [
    'a table stands twice',
    `tables: [ledger, ledger]`,
    'job.yaml:3:18: tables[1]: found "ledger", expected each table once',
  ],
  [
    'the format is unknown',
    `format: CSV`,
    'job.yaml:3:9: format: found "CSV", expected one of csv, parquet (did you mean "csv"?)',
  ],
  [
    'the compression is unknown',
    `compression: brotli`,
    'job.yaml:3:14: compression: found "brotli", expected one of none, gzip, zstd, snappy',
  ],
  [
    'csv is to be zstd',
    `compression: zstd`,
    'job.yaml:3:14: compression: found "zstd", expected one of none, gzip (the format is csv)',
  ],
  ['the output is empty', `output: ''`, 'job.yaml:3:9: output: found "", expected text of 1 to'],
  [
    'maxRowsPerFile is zero',
    `maxRowsPerFile: 0`,
    'job.yaml:3:17: maxRowsPerFile: found 0, expected an integer, 1 or more',
  ],
  [
    'concurrency is too high',
    `concurrency: 257`,
    'job.yaml:3:14: concurrency: found 257, expected an integer, 1 to 256',
  ],
  [
    'concurrency is a list',
    `concurrency: [1, 2]`,
    'job.yaml:3:14: concurrency: found a list of 2, expected an integer, 1 to 256',
  ],
  [
    'concurrency is infinite',
    `concurrency: .inf`,
    'job.yaml:3:14: concurrency: found .inf, expected an integer, 1 to 256',
  ],
  ['nativeSymbol is long', `nativeSymbol: ${'X'.repeat(33)}`, 'job.yaml:3:15: nativeSymbol: found "XXX'],
  [
    'keepRaw is a word',
    `keepRaw: yes`,
    'job.yaml:3:10: keepRaw: found "yes", expected true or false (did you mean true?)',
  ],
  ['service is text', `service: demo`, 'job.yaml:3:10: service: found text, expected a mapping of baseUrl'],
  ['service is empty', `service:`, 'service: found nothing, expected a mapping of baseUrl'],
  [
    'baseUrl has no scheme',
    `service:\n  baseUrl: api.example.com`,
    'job.yaml:4:12: service.baseUrl: found "api.example.com", expected an http or https URL',
  ],
  [
    'baseUrl is ftp',
    `service:\n  baseUrl: ftp://example.com`,
    'job.yaml:4:12: service.baseUrl: found "ftp://example.com", expected an http or https URL',
  ],
  [
    'baseUrl has no host',
    `service:\n  baseUrl: 'https://'`,
    'service.baseUrl: found "https://", expected an http or https URL',
  ],
  [
    'apiKeyHeader is reserved',
    `service:\n  apiKeyHeader: Host`,
    'job.yaml:4:17: service.apiKeyHeader: found "Host", expected a header that HTTP itself does not use',
  ],
  [
    'timeout is zero',
    `service:\n  timeout: 0s`,
    'job.yaml:4:12: service.timeout: found "0s", expected a duration from 1ms to 1h',
  ],
  [
    'timeout is above an hour',
    `service:\n  timeout: 61m`,
    'job.yaml:4:12: service.timeout: found "61m", expected a duration from 1ms to 1h',
  ],
]

test.for(WRONG.map(([when, lines, says]) => [when, `${LEAST}${lines}`, says] as const))(
  'rejects a job with the location of the error when %s',
  expectRefusal,
)
