import { ExportError } from '../core/model/errors.ts'
import type { Manifest, ManifestTable } from '../core/model/manifest.ts'
import { manifestContradictions } from '../core/model/manifest-contradictions.ts'
import { manifestProblems } from '../core/model/manifest-schema.ts'
import { invalidJsonReason, parseJson, previewJson } from '../core/platform/json-text.ts'
import { TABLES, type Table } from '../core/table/index.ts'
import { columnDifferences, UPGRADE_FIX } from '../core/table/schema-changes.ts'
import { extensionPattern } from '../formats/index.ts'

/**
 * Parses a manifest and checks what a load relies on: its shape, known tables with the current columns, and file paths
 * inside the output folder.
 *
 * @param location names the manifest in messages
 * @throws ExportError VERIFY_FAILED
 */
export function readManifest(text: string, location: string): Manifest {
  const manifest = parseJson(text) as Partial<Manifest> | undefined
  const problem =
    manifest === undefined ? `it is ${invalidJsonReason(text)}` : problemOf(manifest as Manifest)
  if (problem !== undefined)
    throw new ExportError('VERIFY_FAILED', `${location}: ${problem}`, {
      fix: 'Load an unmodified output of this version of walletlake, or export it again.',
    })
  requireSameColumns(manifest as Manifest, location)
  return manifest as Manifest
}

function requireSameColumns(manifest: Manifest, location: string): void {
  const [difference] = columnDifferences(manifest)
  if (difference === undefined) return
  const message = `${location}: ${difference}: another version wrote this export`
  throw new ExportError('VERIFY_FAILED', message, { fix: UPGRADE_FIX })
}

function problemOf(manifest: Manifest): string | undefined {
  const { manifestVersion, tables } = manifest ?? {}
  if (manifestVersion !== 1) return 'it is not a manifest of version 1'
  const unknown = Object.keys(tables ?? {}).find((name) => TABLES.every((table) => table.name !== name))
  if (unknown !== undefined) return `it has an unknown table, ${unknown}`
  const [shapeProblem = manifestContradictions(manifest)[0]] = manifestProblems(manifest)
  if (shapeProblem !== undefined)
    return `${shapeProblem.path}: expected ${shapeProblem.expected}, found ${previewJson(shapeProblem.found)}`
  for (const table of TABLES) {
    const listed = tables[table.name]
    const problem = listed && fileProblem(table, listed)
    if (problem !== undefined) return `${table.name}: ${problem}`
  }
  return undefined
}

/** Finds a file entry with an invalid block range or a path outside the table's folder. */
function fileProblem({ name }: Table, { files }: ManifestTable): string | undefined {
  const path = new RegExp(
    `^${name}/(?:(?:day|month|blocks)=[0-9-]+/)?[A-Za-z0-9][A-Za-z0-9._-]*\\.${extensionPattern()}$`,
  )
  const invalid = files.find((file) => !path.test(file.path) || file.fromBlock > file.toBlock)
  return invalid && `the entry of the file ${invalid.path} is invalid`
}
