import { randomBytes } from 'node:crypto'
import { rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from '../platform/disk.ts'

/**
 * Part of the name of this process's staging folder. A process that lost its lock while it was suspended
 * therefore cannot write to, or remove, the files that its successor stages.
 */
const ATTEMPT_ID = randomBytes(6).toString('hex')

/** Staging folder of this process, inside the private folder of an output. */
export const partsFolder = (privateFolder: string): string => join(privateFolder, 'parts', ATTEMPT_ID)

/** Creates the empty staging folder and removes those of earlier processes. */
export async function makePartsFolder(privateFolder: string): Promise<string> {
  const folder = partsFolder(privateFolder)
  await rm(dirname(folder), { recursive: true, force: true })
  await makeFolder(folder)
  return folder
}

/** Removes the staging folder, and its parent folder if that is then empty. */
export async function removePartsFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await rmdir(dirname(folder)).catch(() => undefined)
}
