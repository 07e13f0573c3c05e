import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadOutput } from '../../src/load/load.ts'
import {
  type MemoryTarget,
  type ModelFile,
  type ModelRow,
  memoryTarget,
  modelSource,
} from './memory-target.ts'

const options = { signal: new AbortController().signal, onNotice: () => {}, onFile: () => {} }

async function load(target: MemoryTarget, name: string, files: readonly ModelFile[], commit?: 'file') {
  target.source = modelSource(name, files)
  return loadOutput(target.source, target, { ...options, commit }, async () => ['1'])
}

/**
 * Generates an export: sorted block ranges, each in one file, in two files of the same range or in two files that share
 * a block, with rows that have unique keys.
 */
const exportOf = (blockOf: (key: number) => fc.Arbitrary<number>) =>
  fc
    .record({
      cuts: fc.uniqueArray(fc.integer({ min: 1, max: 39 }), { maxLength: 2 }),
      cutting: fc.constantFrom('whole', 'same', 'tight'),
      rows: fc.uniqueArray(rowWith(blockOf), { selector: ({ key }) => key, maxLength: 10 }),
    })
    .map(({ cuts, cutting, rows }): ModelFile[] => {
      const ends = [0, ...cuts.sort((a, b) => a - b), 40]
      return ends.slice(0, -1).flatMap((from, at) => {
        const to = ends[at + 1] ?? 40
        const inside = rows
          .filter(({ block }) => block >= from && block < to)
          .sort((a, b) => a.block - b.block)
        if (cutting === 'whole') return [{ from, to, rows: inside }]
        const [first, second] = [inside.slice(0, inside.length >> 1), inside.slice(inside.length >> 1)]
        const border = cutting === 'tight' ? second[0]?.block : undefined
        return [
          { from, to: border === undefined ? to : border + 1, rows: first },
          { from: border ?? from, to, rows: second },
        ]
      })
    })

/** Generates successive exports: each is a new one, or the previous one with one changed row. */
const historyOf = (one: fc.Arbitrary<ModelFile[]>, length: number) =>
  fc
    .array(fc.tuple(one, fc.option(fc.nat(7), { freq: 2 })), { minLength: 1, maxLength: length })
    .map((turns) => {
      const history: ModelFile[][] = []
      for (const [files, edited] of turns) {
        const before = history.at(-1)
        history.push(edited === null || before === undefined ? files : edit(before, edited))
      }
      return history
    })

function edit(files: readonly ModelFile[], at: number): ModelFile[] {
  const rows = rowsOf(files)
  const { key } = rows[at % rows.length] ?? {}
  return files.map(({ from, to, rows: inside }) => ({
    from,
    to,
    rows: inside.map((row) => (row.key === key ? { ...row, content: `${row.content}!` } : row)),
  }))
}

const rowWith = (blockOf: (key: number) => fc.Arbitrary<number>): fc.Arbitrary<ModelRow> =>
  fc
    .nat(11)
    .chain((key) =>
      fc.record({ key: fc.constant(String(key)), block: blockOf(key), content: fc.constantFrom('a', 'b') }),
    )

/** Reorgs may move any transaction to any block. */
const anExport = exportOf(() => fc.nat(39))

const rowsOf = (files: readonly ModelFile[]) => sorted(files.flatMap(({ rows }) => rows))
const sorted = (rows: readonly ModelRow[]) => [...rows].sort((a, b) => (a.key < b.key ? -1 : 1))

const kinds = [
  { transactions: 'many' as const, commit: undefined },
  { transactions: 'many' as const, commit: 'file' as const },
  { transactions: 'one' as const, commit: undefined },
  { transactions: 'none' as const, commit: undefined },
]

/** `npm test` checks fewer rounds. */
const suites = [
  { rounds: 40, tags: [] },
  { rounds: 300, tags: ['long'] },
]

describe.for(kinds.flatMap((kind) => suites.map((suite) => ({ ...kind, ...suite }))))(
  'a target with $transactions transactions, commit by $commit, $rounds rounds',
  ({ transactions, commit, rounds, tags }) => {
    test('contains exactly the last export, whatever was loaded before', { tags }, async () => {
      await fc.assert(
        fc.asyncProperty(historyOf(anExport, 4), async (exports) => {
          const target = memoryTarget(transactions)
          for (const files of exports) {
            await load(target, 'ours', files, commit)
            expect(sorted(target.rows())).toEqual(rowsOf(files))
            expect((await load(target, 'ours', files, commit)).loaded).toEqual({})
          }
        }),
        { numRuns: rounds },
      )
    })

    test('contains the last export although earlier loads failed at any point', { tags }, async () => {
      const breaks = fc.array(fc.array(fc.nat(25), { maxLength: 3 }), { minLength: 4, maxLength: 4 })
      await fc.assert(
        fc.asyncProperty(historyOf(anExport, 4), breaks, async (exports, broken) => {
          const target = memoryTarget(transactions)
          for (const [at, files] of exports.entries()) {
            for (const after of broken[at] ?? []) {
              target.breakAfter(after)
              await load(target, 'ours', files, commit).catch((thrown: Error) =>
                expect(thrown.message).toBe('broken'),
              )
            }
            target.breakAfter(Number.POSITIVE_INFINITY)
            await load(target, 'ours', files, commit)
            expect(sorted(target.rows())).toEqual(rowsOf(files))
          }
        }),
        { numRuns: rounds },
      )
    })

    test('keeps all rows of another export in the same table', { tags }, async () => {
      const unchanging = exportOf((key) => fc.constant((key * 7) % 40))
      await fc.assert(
        fc.asyncProperty(unchanging, historyOf(unchanging, 3), async (theirs, ours) => {
          const target = memoryTarget(transactions)
          await load(target, 'ours', ours[0] ?? [], commit)
          await load(target, 'theirs', theirs, commit)
          for (const files of ours.slice(1)) await load(target, 'ours', files, commit)
          const there = new Map(target.rows().map((row) => [row.key, row]))
          expect(there.size).toBe(target.rows().length)
          for (const { rows } of theirs) for (const { key } of rows) expect(there.has(key)).toBe(true)
        }),
        { numRuns: rounds },
      )
    })
  },
)
