import { test } from 'vitest'
import { A, expectRefusal, LEAST, type Wrong } from './helpers.ts'

const WRONG: readonly Wrong[] = [
  [
    'a key is misspelt',
    `${LEAST}adress: x`,
    `job.yaml:3:1: adress: found the key "adress", expected a field's name (did you mean "addresses"?)`,
  ],
  ['a key is near a known one', `${LEAST}end_block: 9`, '(did you mean "endBlock"?)'],
  ['a key belongs under service', `${LEAST}baseUrl: demo`, '(did you mean "service.baseUrl"?)'],
  [
    'a key is the path of a field',
    `${LEAST}service.baseUrl: demo`,
    'job.yaml:3:1: "service.baseUrl": found the key "service.baseUrl", expected baseUrl below service, two spaces further in',
  ],
  [
    'a key under service is unknown',
    `${LEAST}service: {\n  timeOut: 3s }`,
    'job.yaml:4:3: service.timeOut: found the key "timeOut", expected one of baseUrl, api, apiKeyHeader, timeout, tier, computeUnitsPerMinute, computeUnitsPerDay, computeUnits (did you mean "timeout"?)',
  ],
  [
    'an option stands in the job',
    `${LEAST}escapeFormulas: false`,
    'job.yaml:3:1: escapeFormulas: found the key "escapeFormulas", expected the option --no-escape-formulas',
  ],
  [
    'a key stands twice',
    `${LEAST}chain: 2`,
    'job.yaml:3:1: found the key "chain" again, expected each key once (first at job.yaml:1:1)',
  ],
  ['a key is a list', `${LEAST}? [1]\n: 2`, 'job.yaml:3:3: found a key that is not text, expected a field'],
  ['the file is empty', '', 'job.yaml:1:1: found nothing, expected a mapping of fields'],
  ['the file has comments only', '# chain: 1\n', 'job.yaml:1:1: found nothing, expected a mapping'],
  ['the file is a list', '- chain', 'job.yaml:1:1: found a list of 1, expected a mapping of fields'],
  ['the file is one word', 'chain', 'job.yaml:1:1: found text, expected a mapping of fields'],
  [
    'there are two documents',
    `${LEAST}---\nchain: 2`,
    'job.yaml:3:1: found a second document, expected one job per file',
  ],
  [
    'a tab indents',
    `${LEAST}service:\n\ttimeout: 1s`,
    'job.yaml:4:1: found a tab as indentation, expected spaces',
  ],
  [
    'a bracket is open',
    'chain: [1',
    'job.yaml:1:8: found a [ that is never closed, expected a ] after its last entry',
  ],
  [
    'a tag is unknown',
    `${LEAST}format: !mine csv`,
    'job.yaml:3:9: found a tag (!…), which a job does not have',
  ],
  [
    'JSON is cut',
    '{"chain": 1,\n"addresses": ["0x',
    'job.json:2:15: found a " that is never closed, expected a " after the text',
    { name: 'job.json' },
  ],
  [
    'an alias repeats a list',
    `chain: 1\naddresses: &all ['${A}']\ntables: *all`,
    'job.yaml:3:9: tables: found an alias, expected the value written out',
  ],
  [
    'an alias has no anchor',
    'chain: *none\naddresses: []',
    'job.yaml:1:8: chain: found an alias, expected the value written out',
  ],
]

test.for(WRONG)('rejects a job with the location of the error when %s', expectRefusal)
