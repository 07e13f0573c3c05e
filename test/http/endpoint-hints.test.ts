import { expect, test } from 'vitest'
import { explainBody, fixForStatus } from '../../src/http/http-status-error.ts'

const RETIRED = { baseUrl: 'https://api.bscscan.com', path: '/v2/api' }
const WEB_PAGE = { headers: {}, body: Buffer.from('<!DOCTYPE html><title>Moved</title>') }

test.for([301, 403, 404])(
  'the fix for %i of a host that was switched off names its replacement',
  (status) => {
    const fix = fixForStatus({ ...WEB_PAGE, status }, RETIRED)
    expect(fix).toMatch(
      /^api\.bscscan\.com was switched off in 2025: set the base URL .+ to https:\/\/api\.etherscan\.io\/v2\/api\.$/,
    )
  },
)

test('the fix for a web page of a host that was switched off names its replacement', () => {
  const explanation = explainBody({ ...WEB_PAGE, status: 200 }, RETIRED)
  expect(explanation?.fix).toContain('to https://api.etherscan.io/v2/api.')
})

test('an answer in the shape of an explorer is not explained if an explorer was requested', () => {
  const body = Buffer.from(JSON.stringify({ status: '0', message: 'NOTOK', result: null }))
  const requested = { baseUrl: 'https://explorer.example.com', path: '/api' }
  expect(explainBody({ headers: {}, body, status: 200 }, requested)).toBeUndefined()
})
