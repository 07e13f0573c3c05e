import { randomBytes } from 'node:crypto'
import { rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from '../platform/disk.ts'

/**
 * In the name of the folder in which this process stages files: a process that lost the output while it was suspended neither
 * writes to nor removes what the next one stages.
 */
const ATTEMPT_ID = randomBytes(6).toString('hex')

/** Where this process stages files of an output, below its private folder. */
export const partsFolder = (privateFolder: string): string => join(privateFolder, 'parts', ATTEMPT_ID)

/** Makes the folder, empty, and removes what earlier processes have left beside it. */
export async function makePartsFolder(privateFolder: string): Promise<string> {
  const folder = partsFolder(privateFolder)
  await rm(dirname(folder), { recursive: true, force: true })
  await makeFolder(folder)
  return folder
}

/** Removes the folder, and the one above it where it is empty then. */
export async function removePartsFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await rmdir(dirname(folder)).catch(() => undefined)
}
