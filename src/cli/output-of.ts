import { stat } from 'node:fs/promises'
import { basename, dirname, extname } from 'node:path'
import { ExportError } from '../core/errors.ts'
import { MANIFEST_FILE } from '../core/manifest.ts'
import type { Job } from '../core/model.ts'
import { readJob } from '../job/read-job.ts'

/** What a command's word names: an output folder, and the job where the word is a job file. */
export type NamedOutput = { readonly output: string; readonly job: Job | undefined }

/** For the help of commands that take either. */
export const OUTPUT_OR_JOB = 'the output folder, or the job file that writes it'

/**
 * Takes an output folder (or the `manifest.json` in it) or a job file; of a job file the output is the one that the job
 * writes to. Throws JOB_INVALID for a job file with mistakes, and USAGE where there is neither a folder nor a file.
 */
export async function outputOf(word: string): Promise<NamedOutput> {
  const entry = await stat(word).catch(() => undefined)
  if (entry?.isDirectory()) return { output: word, job: undefined }
  if (basename(word) === MANIFEST_FILE) return { output: dirname(word), job: undefined }
  if (entry === undefined && !JOB_ENDINGS.includes(extname(word))) throw nothingThere(word)
  const job = await readJob(word, { overrides: {}, env: process.env })
  return { output: job.output, job }
}

const JOB_ENDINGS = ['.yaml', '.yml', '.json']

function nothingThere(word: string): ExportError {
  return new ExportError('USAGE', `there is no output folder or job file ${word}`, {
    fix: 'Name the output folder of a run, such as output/mine, or its job file.',
  })
}
