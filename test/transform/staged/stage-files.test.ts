import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { linesPath, openStageFiles } from '../../../src/transform/staged/stage-page.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

const open = (folder: string) =>
  openStageFiles({ folder, tables: ['ledger'], format: 'csv', escapeFormulas: false })

test('buffers lines in memory and writes them to the file of their table and thread on flush', () => {
  const folder = tempFolder()
  const files = open(folder)
  const [table] = files.tables
  table?.lines.fill({ bytes: 4, rows: 2, maxLineBytes: 2 }, (buffer) => buffer.write('a\nb\n'))
  const path = linesPath(folder, 'ledger', threadId)
  expect([existsSync(path), table?.position()]).toEqual([false, 4])
  files.flush()
  expect([readFileSync(path, 'utf8'), table?.position()]).toEqual(['a\nb\n', 4])
  expect(path).toBe(join(folder, `ledger-${threadId}.lines`))
})

test('is full at half a megabyte of lines', () => {
  const files = open(tempFolder())
  const add = (bytes: number) =>
    files.tables[0]?.lines.fill({ bytes, rows: bytes, maxLineBytes: 1 }, (buffer) => buffer.fill(10))
  add(524_287)
  expect(files.isFull()).toBe(false)
  add(1)
  expect(files.isFull()).toBe(true)
  files.flush()
  expect(files.isFull()).toBe(false)
})

test('close writes buffered lines, and later lines are appended', () => {
  const folder = tempFolder()
  const files = open(folder)
  const add = (text: string) =>
    files.tables[0]?.lines.fill({ bytes: text.length, rows: 1, maxLineBytes: text.length }, (buffer) =>
      buffer.write(text),
    )
  add('a\n')
  files.close()
  add('b\n')
  files.close()
  expect(readFileSync(linesPath(folder, 'ledger', threadId), 'utf8')).toBe('a\nb\n')
})
