import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { expect } from 'vitest'
import { tempFolder } from './temp-folder.ts'

type ZipEntry = { name: string; times: number[]; packed: Buffer }

/** The entries of a zip archive, with their times in the directory and before their content. */
function entriesOf(zip: Buffer): ZipEntry[] {
  const entries: ZipEntry[] = []
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06'))
  let entry = zip.readUInt32LE(end + 16)
  while (entry < end) {
    const [name = 0, extra = 0, comment = 0] = [28, 30, 32].map((offset) => zip.readUInt16LE(entry + offset))
    const local = zip.readUInt32LE(entry + 42)
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
    entries.push({
      name: zip.toString('utf8', entry + 46, entry + 46 + name),
      times: [zip.readUInt32LE(entry + 12), zip.readUInt32LE(local + 10)],
      packed: zip.subarray(start, start + zip.readUInt32LE(entry + 20)),
    })
    entry += 46 + name + extra + comment
  }
  return entries
}

/** Returns the text of a file in a zip archive. */
export function unzipText(zip: Buffer, wanted: string): string {
  const entry = entriesOf(zip).find(({ name }) => name === wanted)
  if (entry === undefined) throw new Error(`${wanted} is not in the archive`)
  return inflateRawSync(entry.packed).toString()
}

/** All times in a zip archive, in the format of DOS. */
export const zipTimes = (zip: Buffer): number[] => entriesOf(zip).flatMap(({ times }) => times)

/** Converts the first sheet of a workbook to CSV with LibreOffice, as a user would see it. */
export const csvByLibreOffice = (xlsx: Buffer): string =>
  byLibreOffice(xlsx, 'csv', 'csv:Text - txt - csv (StarCalc):44,34,76').toString()

/** Prints a workbook with LibreOffice. Returns the number of pages. */
export const pagesByLibreOffice = (xlsx: Buffer): number =>
  byLibreOffice(xlsx, 'pdf', 'pdf')
    .toString('latin1')
    .match(/\/Type *\/Page\b/g)?.length ?? 0

function byLibreOffice(xlsx: Buffer, ending: string, filter: string): Buffer {
  const folder = tempFolder()
  writeFileSync(join(folder, 'book.xlsx'), xlsx)
  const words = [
    '--headless',
    `-env:UserInstallation=file://${folder}/profile`,
    '--convert-to',
    filter,
    '--outdir',
    folder,
  ]
  const { status, stderr } = spawnSync('soffice', [...words, join(folder, 'book.xlsx')])
  expect([status, String(stderr)]).toEqual([0, expect.anything()])
  return readFileSync(join(folder, `book.${ending}`))
}
