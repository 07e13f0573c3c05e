import { expect, test } from 'vitest'
import { API_FIELD, outputChanged } from '../../../src/core/model/output-changed.ts'

const API = { field: API_FIELD, previous: 'etherscan', current: 'data-api' }
const CHANGED = { what: 'the output contains an export of another job', fix: 'Choose another.' }

test('if only the API of an output differs, the fix names it', () => {
  const { message, fix } = outputChanged({ ...CHANGED, settings: [API] })
  expect(message).toBe(`${CHANGED.what}: service.api was etherscan and is data-api`)
  expect(fix).toContain('add --api etherscan')
})

test('if more than the API differs, the fix is the given one', () => {
  const { message, fix } = outputChanged({ ...CHANGED, settings: [API], others: ['tables had ledger'] })
  expect(message).toContain('service.api was etherscan and is data-api, tables had ledger')
  expect(fix).toBe(CHANGED.fix)
})
