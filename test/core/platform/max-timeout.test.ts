import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { MAX_TIMEOUT_MS } from '../../../src/core/platform/max-timeout.ts'

/** What Node warns of while a timer of that length is set. */
async function warningsAt(delayMs: number): Promise<string[]> {
  const warned: string[] = []
  const note = ({ name }: Error) => void warned.push(name)
  process.on('warning', note)
  clearTimeout(setTimeout(() => {}, delayMs))
  await setImmediate()
  process.off('warning', note)
  return warned
}

test('no timer may be longer by a millisecond', async () => {
  expect(await warningsAt(MAX_TIMEOUT_MS)).toEqual([])
  expect(await warningsAt(MAX_TIMEOUT_MS + 1)).toEqual(['TimeoutOverflowWarning'])
})
