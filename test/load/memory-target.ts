import type { Manifest } from '../../src/core/model/manifest.ts'
import type { BlockRange } from '../../src/core/model/model.ts'
import { tableByName } from '../../src/core/table/index.ts'
import type { LoadSource } from '../../src/load/open-source.ts'
import type { LocalFile } from '../../src/load/reader.ts'
import type { LoadRecord } from '../../src/load/records.ts'
import type { LoadTarget } from '../../src/load/target.ts'

export type ModelRow = { readonly key: string; readonly block: number; readonly content: string }
export type ModelFile = { readonly from: number; readonly to: number; readonly rows: readonly ModelRow[] }

const LEDGER = tableByName('ledger')

/** An output with only the ledger, whose files are lists of rows. */
export function modelSource(
  name: string,
  files: readonly ModelFile[],
): LoadSource & { rowsOf(path: string): readonly ModelRow[] } {
  const contents = new Map<string, readonly ModelRow[]>()
  const listed = files.map(({ from, to, rows }, at) => {
    const path = `ledger/ledger-${from}-${to}-${at}.csv`
    contents.set(path, rows)
    return { path, rows: rows.length, bytes: 0, sha256: JSON.stringify(rows), fromBlock: from, toBlock: to }
  })
  const columns = LEDGER.columns.map((column) => ({ ...column }))
  const rows = listed.reduce((sum, file) => sum + file.rows, 0)
  const job = { name, chain: '1', startBlock: 0, addressesSha256: name } as Manifest['job']
  const open: LoadSource['open'] = async ({ table, file }) => ({
    table,
    name: file.path,
    path: file.path,
    format: 'csv',
    readable: { format: 'csv', paths: [], isGzipped: false, maxRowBytes: 0, close: async () => {} },
    rows: file.rows,
  })
  return {
    manifest: { job, tables: { ledger: { rows, columns, files: listed } } } as unknown as Manifest,
    manifestSha256: '',
    location: `/${name}`,
    scratchFolder: '',
    isRemote: false,
    requireFiles: async () => {},
    open,
    openUnchecked: open,
    release: async () => {},
    hasChanged: async () => false,
    close: async () => {},
    rowsOf: (path) => contents.get(path) ?? [],
  }
}

export type MemoryTarget = LoadTarget & {
  /** Rows in the table; with `transactions`, as of the last commit. */
  rows(): ModelRow[]
  /** Makes the target throw after this number of further changes. */
  breakAfter(changes: number): void
  /** The source from which `insert` takes the rows of a file. */
  source: ReturnType<typeof modelSource> | undefined
}

const isWithin = ({ block }: ModelRow, ranges: readonly BlockRange[]) =>
  ranges.some(({ from, to }) => block >= from && block < to)

/** Creates a target that stores rows in memory and can fail between any two changes. */
export function memoryTarget(transactions: LoadTarget['transactions']): MemoryTarget {
  let rows: ModelRow[] = []
  let stage: readonly ModelRow[] = []
  let records: LoadRecord[] = []
  let before = { rows, records }
  let left = Number.POSITIVE_INFINITY
  const change = () => {
    left -= 1
    if (left < 0) throw new Error('broken')
  }
  const target: MemoryTarget = {
    transactions,
    source: undefined,
    begin: async () => {
      before = { rows, records }
    },
    prepare: async () => {},
    records: async () => records,
    isEmpty: async () => rows.length === 0,
    createStage: async () => {
      stage = []
    },
    insert: async (file: LocalFile, into) => {
      const added = target.source?.rowsOf(file.name) ?? []
      if (into === 'stage') stage = [...stage, ...added]
      else {
        if (added.some(({ key }) => rows.some((row) => row.key === key)))
          throw new Error(`inserted a key twice from ${file.name}`)
        for (const row of added) {
          change()
          rows = [...rows, row]
        }
      }
      return added.length
    },
    findDuplicate: async (_, { ranges }) => {
      const duplicate = rows.find((row) => isWithin(row, ranges) && stage.some(({ key }) => key === row.key))
      return duplicate && [duplicate.key]
    },
    merge: async (_, { ranges }) => {
      for (const row of stage) {
        change()
        rows = [...rows.filter(({ key }) => key !== row.key), row]
      }
      change()
      rows = rows.filter((row) => !isWithin(row, ranges) || stage.some(({ key }) => key === row.key))
    },
    saveRecord: async (record) => {
      change()
      const isOther = (one: LoadRecord) =>
        one.outputId !== record.outputId || one.table !== record.table || one.path !== record.path
      records = [...records.filter(isOther), record]
    },
    deleteRecords: async (gone) => {
      for (const { outputId, path, sha256 } of gone) {
        change()
        records = records.filter(
          (one) => one.outputId !== outputId || one.path !== path || one.sha256 !== sha256,
        )
      }
    },
    commit: async () => change(),
    rollback: async () => {
      if (transactions !== 'none') ({ rows, records } = before)
    },
    close: async () => {},
    rows: () => rows,
    breakAfter: (changes) => {
      left = changes
    },
  }
  return target
}
