import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { fetchExport } from '../../../src/storage/fetch-export.ts'
import { verifyOutput } from '../../../src/verify/export/verify-output.ts'
import { jobOf, type ScenarioState } from './state.ts'

/** A folder with the published export: the output, or a copy of the objects in the object store. */
export async function publishedFolder(state: ScenarioState): Promise<string> {
  const { store, output } = jobOf(state)
  if (store === undefined) return output
  const folder = join(output, '..', 'published')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  await fetchExport(store, folder)
  return folder
}

/** Asserts that `verify` finds no problem, as it must after every run that exits 0. */
export async function expectVerified(state: ScenarioState, when: string): Promise<void> {
  const { problems } = await verifyOutput(await publishedFolder(state))
  expect({ when, problems }).toEqual({ when, problems: [] })
}
