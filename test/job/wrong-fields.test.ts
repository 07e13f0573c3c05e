import { test } from 'vitest'
import { expectRefusal, LEAST, type Wrong } from './helpers.ts'

const WRONG: readonly Wrong[] = [
  {
    when: 'startBlock is negative',
    text: `${LEAST}startBlock: -1`,
    says: 'job.yaml:3:13: startBlock: found -1, expected an integer, 0 or more',
  },
  {
    when: 'startBlock is text',
    text: `${LEAST}startBlock: '7'`,
    says: 'startBlock: found "7", expected an integer, 0 or more (did you mean 7?)',
  },
  {
    when: 'startBlock has underscores',
    text: `${LEAST}startBlock: 17_000_000`,
    says: 'found "17_000_000", expected an integer, 0 or more (did you mean 17000000?)',
  },
  {
    when: 'startBlock has a fraction',
    text: `${LEAST}startBlock: 0.5`,
    says: 'job.yaml:3:13: startBlock: found 0.5, expected an integer, 0 or more',
  },
  {
    when: 'startBlock is beyond exact numbers',
    text: `${LEAST}startBlock: 9007199254740993`,
    says: 'startBlock: found 9007199254740993, expected an integer, 0 to 9007199254740991',
  },
  {
    when: 'endBlock is zero',
    text: `${LEAST}endBlock: 0`,
    says: 'job.yaml:3:11: endBlock: found 0, expected an integer, 1 or more',
  },
  {
    when: 'endBlock is startBlock',
    text: `${LEAST}startBlock: 5\nendBlock: 5`,
    says: 'job.yaml:4:11: endBlock: found 5, expected an integer greater than startBlock (5)',
  },
  {
    when: 'finality is set together with endBlock',
    text: `${LEAST}endBlock: 5\nfinality: 10m`,
    says: 'job.yaml:4:11: finality: found "10m", expected no finality: it cannot be combined with endBlock',
  },
  {
    when: 'finality has no unit',
    text: `${LEAST}finality: 90`,
    says: 'job.yaml:3:11: finality: found 90, expected a duration from 0s to 36500d, like 500ms, 90s, 10m, 1h or 2d (did you mean "90s"?)',
  },
  {
    when: 'finality has an unknown unit',
    text: `${LEAST}finality: 2w`,
    says: 'job.yaml:3:11: finality: found "2w", expected a duration',
  },
  {
    when: 'tables are one text',
    text: `${LEAST}tables: ledger`,
    says: 'job.yaml:3:9: tables: found "ledger", expected a list of at least one of transactions,',
  },
  {
    when: 'tables are an empty list',
    text: `${LEAST}tables: []`,
    says: 'job.yaml:3:9: tables: found an empty list, expected a list of at least one of transactions,',
  },
  {
    when: 'a table is misspelt',
    text: `${LEAST}tables: [erc20_transfer]`,
    says: 'job.yaml:3:10: tables[0]: found "erc20_transfer", expected one of transactions, erc20_transfers, erc721_transfers, erc1155_transfers, internal_transactions, atomic_transactions, wallet_transactions, ledger (did you mean "erc20_transfers"?)',
  },
  {
    when: 'a table stands twice',
    text: `${LEAST}tables: [ledger, ledger]`,
    says: 'job.yaml:3:18: tables[1]: found "ledger", expected each table once',
  },
  {
    when: 'the format is unknown',
    text: `${LEAST}format: CSV`,
    says: 'job.yaml:3:9: format: found "CSV", expected one of csv, parquet (did you mean "csv"?)',
  },
  {
    when: 'the compression is unknown',
    text: `${LEAST}compression: brotli`,
    says: 'job.yaml:3:14: compression: found "brotli", expected one of none, gzip, zstd, snappy',
  },
  {
    when: 'csv is to be zstd',
    text: `${LEAST}compression: zstd`,
    says: 'job.yaml:3:14: compression: found "zstd", expected one of none, gzip (the format is csv)',
  },
  {
    when: 'the output is empty',
    text: `${LEAST}output: ''`,
    says: 'job.yaml:3:9: output: found "", expected text of 1 to',
  },
  {
    when: 'maxRowsPerFile is zero',
    text: `${LEAST}maxRowsPerFile: 0`,
    says: 'job.yaml:3:17: maxRowsPerFile: found 0, expected an integer, 1 or more',
  },
  {
    when: 'concurrency is too high',
    text: `${LEAST}concurrency: 257`,
    says: 'job.yaml:3:14: concurrency: found 257, expected an integer, 1 to 256',
  },
  {
    when: 'concurrency is a list',
    text: `${LEAST}concurrency: [1, 2]`,
    says: 'job.yaml:3:14: concurrency: found a list of 2, expected an integer, 1 to 256',
  },
  {
    when: 'concurrency is infinite',
    text: `${LEAST}concurrency: .inf`,
    says: 'job.yaml:3:14: concurrency: found .inf, expected an integer, 1 to 256',
  },
  {
    when: 'nativeSymbol is long',
    text: `${LEAST}nativeSymbol: ${'X'.repeat(33)}`,
    says: 'job.yaml:3:15: nativeSymbol: found "XXX',
  },
  {
    when: 'keepRaw is a word',
    text: `${LEAST}keepRaw: yes`,
    says: 'job.yaml:3:10: keepRaw: found "yes", expected true or false (did you mean true?)',
  },
  {
    when: 'service is text',
    text: `${LEAST}service: demo`,
    says: 'job.yaml:3:10: service: found text, expected a mapping of baseUrl',
  },
  {
    when: 'service is empty',
    text: `${LEAST}service:`,
    says: 'service: found nothing, expected a mapping of baseUrl',
  },
  {
    when: 'baseUrl has no scheme',
    text: `${LEAST}service:\n  baseUrl: api.example.com`,
    says: 'job.yaml:4:12: service.baseUrl: found "api.example.com", expected an http or https URL',
  },
  {
    when: 'baseUrl is ftp',
    text: `${LEAST}service:\n  baseUrl: ftp://example.com`,
    says: 'job.yaml:4:12: service.baseUrl: found "ftp://example.com", expected an http or https URL',
  },
  {
    when: 'baseUrl has no host',
    text: `${LEAST}service:\n  baseUrl: 'https://'`,
    says: 'service.baseUrl: found "https://", expected an http or https URL',
  },
  {
    when: 'apiKeyHeader is reserved',
    text: `${LEAST}service:\n  apiKeyHeader: Host`,
    says: 'job.yaml:4:17: service.apiKeyHeader: found "Host", expected a header that HTTP itself does not use',
  },
  {
    when: 'timeout is zero',
    text: `${LEAST}service:\n  timeout: 0s`,
    says: 'job.yaml:4:12: service.timeout: found "0s", expected a duration from 1ms to 1h',
  },
  {
    when: 'timeout is above an hour',
    text: `${LEAST}service:\n  timeout: 61m`,
    says: 'job.yaml:4:12: service.timeout: found "61m", expected a duration from 1ms to 1h',
  },
]

test.for(WRONG)('rejects a job with the location of the error when $when', expectRefusal)
