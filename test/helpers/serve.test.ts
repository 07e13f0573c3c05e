import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { startLoopback } from './loopback.ts'

let outcome: string | undefined

test.fails('a test fails with the error of its server handler', async () => {
  const { url } = await startLoopback(createDataService(), () => async () => {
    throw new Error('a mistake in the fault')
  })
  outcome = await fetch(`${url}/v1/chains`).then(
    () => 'answered',
    () => 'closed',
  )
})

test('a server closes the connection if its handler throws', () => {
  expect(outcome).toBe('closed')
})
