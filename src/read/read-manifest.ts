import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseJson } from '../core/json-text.ts'
import { MANIFEST_FILE, type Manifest } from '../core/manifest.ts'
import { manifestProblems } from '../core/manifest-schema.ts'
import { type Findings, shown } from './findings.ts'

/** Reads and checks the manifest's shape; undefined where nothing else can be checked by it. */
export async function readManifest(folder: string, findings: Findings): Promise<Manifest | undefined> {
  const content = await readFile(join(folder, MANIFEST_FILE), 'utf8').catch(failureCode)
  if (!findings.expect(typeof content === 'string', () => `manifest.json: cannot be read (${content})`))
    return
  const parsed = parseJson(content as string)
  if (!findings.expect(parsed !== undefined, () => 'manifest.json: expected JSON, found something else'))
    return
  const problems = manifestProblems(parsed)
  findings.expect(problems.length === 0, () => 'manifest.json: does not have the shape of version 1')
  for (const { path, expected, found } of problems) {
    findings.problem(`manifest.json: ${path || 'the whole'}: expected ${expected}, found ${shown(found)}`)
  }
  return problems.length === 0 ? (parsed as Manifest) : undefined
}

function failureCode(thrown: NodeJS.ErrnoException): { code: string; toString(): string } {
  const code = thrown.code ?? thrown.message
  return { code, toString: () => code }
}
