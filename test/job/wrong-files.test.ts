import { test } from 'vitest'
import { A, expectRefusal, LEAST, type Wrong } from './helpers.ts'

const WRONG: readonly Wrong[] = [
  {
    when: 'a key is misspelt',
    text: `${LEAST}adress: x`,
    says: `job.yaml:3:1: adress: found the key "adress", expected a field's name (did you mean "addresses"?)`,
  },
  { when: 'a key is near a known one', text: `${LEAST}end_block: 9`, says: '(did you mean "endBlock"?)' },
  {
    when: 'a key belongs under service',
    text: `${LEAST}baseUrl: demo`,
    says: '(did you mean "service.baseUrl"?)',
  },
  {
    when: 'a key is the path of a field',
    text: `${LEAST}service.baseUrl: demo`,
    says: 'job.yaml:3:1: "service.baseUrl": found the key "service.baseUrl", expected baseUrl below service, two spaces further in',
  },
  {
    when: 'a key under service is unknown',
    text: `${LEAST}service: {\n  timeOut: 3s }`,
    says: 'job.yaml:4:3: service.timeOut: found the key "timeOut", expected one of baseUrl, api, apiKeyHeader, timeout, tier, computeUnitsPerMinute, computeUnitsPerDay, computeUnits (did you mean "timeout"?)',
  },
  {
    when: 'an option stands in the job',
    text: `${LEAST}escapeFormulas: false`,
    says: 'job.yaml:3:1: escapeFormulas: found the key "escapeFormulas", expected the option --no-escape-formulas',
  },
  {
    when: 'a key stands twice',
    text: `${LEAST}chain: 2`,
    says: 'job.yaml:3:1: found the key "chain" again, expected each key once (first at job.yaml:1:1)',
  },
  {
    when: 'a key is a list',
    text: `${LEAST}? [1]\n: 2`,
    says: 'job.yaml:3:3: found a key that is not text, expected a field',
  },
  { when: 'the file is empty', text: '', says: 'job.yaml:1:1: found nothing, expected a mapping of fields' },
  {
    when: 'the file has comments only',
    text: '# chain: 1\n',
    says: 'job.yaml:1:1: found nothing, expected a mapping',
  },
  {
    when: 'the file is a list',
    text: '- chain',
    says: 'job.yaml:1:1: found a list of 1, expected a mapping of fields',
  },
  {
    when: 'the file is one word',
    text: 'chain',
    says: 'job.yaml:1:1: found text, expected a mapping of fields',
  },
  {
    when: 'there are two documents',
    text: `${LEAST}---\nchain: 2`,
    says: 'job.yaml:3:1: found a second document, expected one job per file',
  },
  {
    when: 'a tab indents',
    text: `${LEAST}service:\n\ttimeout: 1s`,
    says: 'job.yaml:4:1: found a tab as indentation, expected spaces',
  },
  {
    when: 'a bracket is open',
    text: 'chain: [1',
    says: 'job.yaml:1:8: found a [ that is never closed, expected a ] after its last entry',
  },
  {
    when: 'a tag is unknown',
    text: `${LEAST}format: !mine csv`,
    says: 'job.yaml:3:9: found a tag (!…), which a job does not have',
  },
  {
    when: 'JSON is cut',
    name: 'job.json',
    text: '{"chain": 1,\n"addresses": ["0x',
    says: 'job.json:2:15: found a " that is never closed, expected a " after the text',
  },
  {
    when: 'an alias repeats a list',
    text: `chain: 1\naddresses: &all ['${A}']\ntables: *all`,
    says: 'job.yaml:3:9: tables: found an alias, expected the value written out',
  },
  {
    when: 'an alias has no anchor',
    text: 'chain: *none\naddresses: []',
    says: 'job.yaml:1:8: chain: found an alias, expected the value written out',
  },
]

test.for(WRONG)('rejects a job with the location of the error when $when', expectRefusal)
