import { expect } from 'vitest'
import { verifyOutput } from '../../src/verify/export/verify-output.ts'

/** Asserts that `verify` finds no problems in an export. */
export async function expectValid(...args: Parameters<typeof verifyOutput>): Promise<void> {
  expect((await verifyOutput(...args)).problems).toEqual([])
}
