import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { ExportError } from '../../src/core/model/errors.ts'
import type { Job } from '../../src/core/model/model.ts'
import { type JobOverrides, readJob } from '../../src/job/read-job.ts'

export const A = `0x${'a'.repeat(40)}`
export const B = `0x${'b'.repeat(40)}`
/** A minimal valid job. */
export const LEAST = `chain: 1\naddresses: ['${A}']\n`

/** Creates a temporary folder with these files. It is removed when the test ends. */
export async function folderWith(files: Record<string, string | Uint8Array>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'walletlake-job-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  return folder
}

export type Setting = {
  readonly name?: string
  readonly overrides?: JobOverrides
  readonly env?: NodeJS.ProcessEnv
  /** Files next to the job file. */
  readonly beside?: Record<string, string | Uint8Array>
}

/** Reads a job from the text of its file. */
export async function jobOf(text: string | Uint8Array, setting: Setting = {}): Promise<Job> {
  const { name = 'job.yaml', overrides = {}, env = {}, beside = {} } = setting
  const folder = await folderWith({ ...beside, [name]: text })
  return readJob(join(folder, name), { overrides, env })
}

/** Returns the error of an invalid job, with its folder removed from the message. */
export async function refusalOf(text: string | Uint8Array, setting: Setting = {}): Promise<ExportError> {
  const { name = 'job.yaml', overrides = {}, env = {}, beside = {} } = setting
  const folder = await folderWith({ ...beside, [name]: text })
  const thrown = await readJob(join(folder, name), { overrides, env }).catch((error: unknown) => error)
  if (!(thrown instanceof ExportError)) throw new Error(`expected a refusal, got ${JSON.stringify(thrown)}`)
  return new ExportError(thrown.code, thrown.message.replaceAll(`${folder}/`, ''))
}

/** An invalid job, and the text that its error must contain: location, field, value and expectation. */
export type Wrong = readonly [when: string, text: string | Uint8Array, says: string, setting?: Setting]

/** Expects JOB_INVALID (exit code 2) with the given text. */
export async function expectRefusal([, text, says, setting]: Wrong): Promise<void> {
  const refusal = await refusalOf(text, setting)
  expect(refusal.code).toBe('JOB_INVALID')
  expect(refusal.failure.exit).toBe(2)
  expect(refusal.message).toContain(says)
}
