import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkFile } from '../../../src/accounting/check/check-file.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'

/** Returns a function that checks a text as a file of a format. A text that cannot be parsed counts as one mistake. */
export function mistakeFinder() {
  const folder = suiteFolder()
  return async (text: string, to: string): Promise<{ line: number; what: string }[]> => {
    const path = join(folder, `damaged-${to}`)
    writeFileSync(path, text)
    const mistakes: { line: number; what: string }[] = []
    await checkFile(path, to, (mistake) => mistakes.push(mistake)).catch((thrown: Error) =>
      mistakes.push({ line: Number(/:(\d+):/.exec(thrown.message)?.[1]), what: thrown.message }),
    )
    return mistakes
  }
}
