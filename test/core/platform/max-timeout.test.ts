import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { MAX_TIMEOUT_MS } from '../../../src/core/platform/max-timeout.ts'

/** Names of the warnings that Node emits for a timer of this length. */
async function warningsAt(delayMs: number): Promise<string[]> {
  const warnings: string[] = []
  const onWarning = ({ name }: Error) => void warnings.push(name)
  process.on('warning', onWarning)
  clearTimeout(setTimeout(() => {}, delayMs))
  await setImmediate()
  process.off('warning', onWarning)
  return warnings
}

test('Node warns about a timer that is one millisecond longer', async () => {
  expect(await warningsAt(MAX_TIMEOUT_MS)).toEqual([])
  expect(await warningsAt(MAX_TIMEOUT_MS + 1)).toEqual(['TimeoutOverflowWarning'])
})
