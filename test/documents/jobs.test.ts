import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FAILURES } from '../../src/core/model/errors.ts'
import { FIELDS } from '../../src/job/fields/fields.ts'
import { A, jobOf } from '../job/helpers.ts'
import { blocksOf, pageAt, ROOT, rowsOf, sectionOf } from './pages.ts'

const PAGE = pageAt('jobs/README.md')
const codeIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)

test('jobs/README.md lists every field with its default and meaning', () => {
  const rows = rowsOf(sectionOf(PAGE, '## Fields'))
  const expected = Object.entries(FIELDS).map(([path, field]) => [
    `\`${path}\``,
    defaultOf(field),
    field.description,
  ])
  expect(rows).toEqual(expected)
})

function defaultOf(field: object): string {
  if (!('default' in field)) return '–'
  if (!Array.isArray(field.default)) return `\`${field.default}\``
  return field.default.length === 0 ? 'none' : 'all'
}

test('every job in jobs/README.md is valid', async () => {
  const jobs = blocksOf(PAGE).filter(({ language, text }) => language === 'yaml' && text.includes('chain:'))
  expect(jobs.length).toBeGreaterThan(0)
  for (const { text } of jobs) expect((await jobOf(text)).wallets.length).toBeGreaterThan(0)
  const services = blocksOf(PAGE).filter(({ text }) => text.startsWith('service:'))
  for (const { text } of services) expect(await jobOf(withLeast(text))).toBeDefined()
})

test('the addresses file in jobs/README.md is valid', async () => {
  const [{ text } = { text: '' }] = blocksOf(PAGE).filter(({ language }) => language === 'csv')
  const job = await jobOf('chain: 1\naddressesFile: wallets.csv\n', { beside: { 'wallets.csv': text } })
  expect(job.wallets.map(({ label }) => label)).toEqual(['savings, Anna', 'cold'])
})

/** Completes a line to a valid job. */
function withLeast(line: string): string {
  const least = ['chain: 1', `addresses: ["${A}"]`].filter(
    (field) => !line.startsWith(field.split(' ')[0] ?? ''),
  )
  return [...least, line].join('\n').concat('\n')
}

test('jobs/README.md lists every exit code with all its error codes', () => {
  const rows = rowsOf(sectionOf(PAGE, '## Exit codes'))
  const documented = rows.map(([exit, codes]) => ({ exit: Number(exit), codes: codeIn(codes) }))
  const exits = [...new Set(Object.values(FAILURES).map(({ exit }) => exit))].sort((a, b) => a - b)
  const known = exits.map((exit) => ({
    exit,
    codes: Object.entries(FAILURES).flatMap(([code, failure]) => (failure.exit === exit ? [code] : [])),
  }))
  expect(documented).toEqual([{ exit: 0, codes: [] }, ...known])
})

test('jobs/README.md lists exactly the environment variables that the program reads', () => {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(join(ROOT, 'src', path), 'utf8'))
  const named = sources.flatMap((text) => text.match(/(?<=\benv\??\.|')WALLETLAKE_\w+/g) ?? [])
  const documented = [...new Set(PAGE.match(/WALLETLAKE_\w+/g))].filter((name) => !name.endsWith('_FILE'))
  expect(documented.sort()).toEqual([...new Set(named)].filter((name) => !name.endsWith('_FILE')).sort())
})
