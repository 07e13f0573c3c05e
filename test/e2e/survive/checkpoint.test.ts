import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { outputBytes } from '../../helpers/output-bytes.ts'
import { baselineBytes, seededRun } from '../../helpers/seeded-run.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'
import { testSample } from '../../helpers/test-sample.ts'

const LOG = '.walletlake/pages.log'
const GOES_ON = 'test: resuming an unfinished run'

/** Creates the checkpoint of a run that stopped after a number of requests. */
async function checkpointAfter(maxRequests: number): Promise<Buffer> {
  const { code, output } = await seededRun({ options: { maxRequests } })
  expect(code).toBe('BUDGET_REACHED')
  return readFileSync(join(output, LOG))
}

/** Resumes from a checkpoint with these bytes. */
async function resumeFrom(bytes: Uint8Array) {
  const output = tempFolder()
  mkdirSync(join(output, '.walletlake'))
  writeFileSync(join(output, LOG), bytes)
  const notices: string[] = []
  const result = await seededRun({ output, options: { onNotice: (notice) => notices.push(notice) } })
  return { ...result, notices: notices.join('\n') }
}

const place = fc.record({ at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), bit: fc.nat(7) })

testSample(
  1,
  [6, 25],
  'writes the same bytes from a checkpoint with flipped bits, and reports the damage: %i runs',
  async (numRuns) => {
    const whole = await checkpointAfter(7)
    const calm = await baselineBytes()
    const intact = (await resumeFrom(whole)).requestLog.length
    await fc.assert(
      fc.asyncProperty(fc.array(place, { minLength: 1, maxLength: 3 }), async (places) => {
        const bytes = Buffer.from(whole)
        for (const { at, bit } of places) {
          const index = Math.floor(at * bytes.length)
          bytes[index] = (bytes[index] ?? 0) ^ (1 << bit)
        }
        const { code, output, requestLog, notices } = await resumeFrom(bytes)
        expect([code, outputBytes(output)]).toEqual([undefined, calm])
        // A line feed between two records carries no data, so flipping it changes nothing.
        if (requestLog.length === intact && notices === GOES_ON) return
        expect(notices).toMatch(/the checkpoint ended in \d+ damaged bytes; their pages are requested again/)
        const aside = readdirSync(join(output, '.walletlake')).includes('pages.log.damaged')
        expect(aside).toBe(notices.includes('were saved as'))
        if (aside) expect(notices).toMatch(/requested again( \(at least \d+\))?; the bytes were saved as/)
      }),
      { numRuns, seed: 1 },
    )
  },
)

testSample(
  1,
  [2, 15],
  'writes the same bytes from a truncated checkpoint, and reports it: %i runs',
  async (numRuns) => {
    const whole = await checkpointAfter(7)
    await fc.assert(
      fc.asyncProperty(place, async ({ at }) => {
        const prefix = whole.subarray(0, Math.floor(at * whole.length))
        const { code, output } = await resumeFrom(prefix)
        expect([code, outputBytes(output)]).toEqual([undefined, await baselineBytes()])
        expect(existsSync(join(output, LOG))).toBe(false)
      }),
      { numRuns, seed: 2 },
    )
  },
)

testSample(1, [2, 10], 'detects and replaces a checkpoint of arbitrary bytes: %i runs', async (numRuns) => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 5_000 }), async (bytes) => {
      const { code, output, notices } = await resumeFrom(bytes)
      expect([code, outputBytes(output)]).toEqual([undefined, await baselineBytes()])
      expect(notices).toContain(`${bytes.length} damaged bytes`)
    }),
    { numRuns, seed: 3 },
  )
})
