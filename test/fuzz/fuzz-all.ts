import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { csvTargets } from './csv-targets.ts'
import { queueTargets } from './queue-targets.ts'
import { makeSamples } from './samples.ts'
import { expectKnownFailure, fuzzTargets } from './targets.ts'

/**
 * Runs every target with its share of `inputs`; expensive targets get fewer. Resolves with the number of
 * inputs per target.
 */
export async function fuzzAll({ inputs, seed }: { inputs: number; seed: number }) {
  const targets = [...fuzzTargets(await makeSamples()), ...queueTargets(), ...csvTargets()]
  const shares = targets.reduce((sum, { cost }) => sum + 1 / cost, 0)
  const counts: Record<string, number> = {}
  for (const { name, input, read, cost } of targets) {
    const numRuns = Math.max(2, Math.ceil(inputs / shares / cost))
    const property = fc.asyncProperty(input, async (value) => {
      counts[name] = (counts[name] ?? 0) + 1
      const folder = mkdtempSync(join(tmpdir(), 'walletlake-fuzz-'))
      await expectKnownFailure(() => read(value, folder)).finally(() => rmSync(folder, { recursive: true }))
    })
    const { failed, counterexample, errorInstance } = await fc.check(property, { numRuns, seed })
    const found = {
      what: name,
      seed,
      input: String(counterexample?.[0]).slice(0, 2_000),
      error: errorInstance,
    }
    expect(failed ? found : undefined).toBeUndefined()
  }
  return counts
}
