import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { pageAt, ROOT } from './pages.ts'

/** The paths of all pages of the repository. */
const PAGES = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md') && !/(^|\/)(node_modules|dist|\.git)\//.test(path))
  .filter((path) => !path.startsWith('output/') || path === 'output/README.md')
  .sort()

/** Finds the links of a page to other pages or to its own anchors, except in code blocks. */
function linksIn(path: string): { target: string; anchor: string | undefined }[] {
  const text = pageAt(path).replace(/^```[\s\S]*?^```$/gm, '')
  return [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]+))?\)/g)].map(([, target = '', anchor]) => ({
    target: target === '' ? path : normalize(join(dirname(path), target)).replace(/\/$/, ''),
    anchor,
  }))
}

/** The anchors that GitHub generates for headings. */
const anchorsOf = (page: string) =>
  [...page.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )

test('there are pages for users, contributors and readers of benchmarks', () => {
  const named = ['README.md', 'jobs/README.md', 'output/README.md', 'src/README.md', 'test/README.md']
  const others = [
    'src/CONTRACT.md',
    'src/INTERFACE.md',
    'test/bench/README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
  ]
  expect(PAGES).toEqual(expect.arrayContaining([...named, ...others]))
})

describe.for(PAGES)('%s', (path) => {
  test('has no broken links', () => {
    const broken = linksIn(path).filter(
      ({ target, anchor }) =>
        !existsSync(join(ROOT, target)) ||
        (anchor !== undefined && !anchorsOf(pageAt(target)).includes(anchor)),
    )
    expect(broken).toEqual([])
  })

  test('has no table that a blank line divides', () => {
    const text = pageAt(path).replace(/^```[\s\S]*?^```$/gm, '')
    expect(text.match(/^\|.*\n\n\|.*\n(?!\|[ |:-]+\n)/gm) ?? []).toEqual([])
  })

  test('installs no registry package under the unowned name walletlake', () => {
    expect(pageAt(path)).not.toMatch(/npm (i|install) (-g|--global) walletlake\b|npx walletlake\b/)
  })
})

test('every page that README.md links to is in the package', { tags: ['long'] }, () => {
  const out = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const [{ files } = { files: [] }] = JSON.parse(out) as { files: { path: string }[] }[]
  const packed = files.map(({ path }) => path)
  const linked = linksIn('README.md').map(({ target }) => target)
  expect(linked.length).toBeGreaterThan(8)
  expect(linked.filter((target) => !packed.includes(target))).toEqual([])
})

const SOURCES = ['src', 'test'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => relative('', join(folder, path))),
)

test.for([
  { page: 'src/CONTRACT.md', cited: /CONTRACT sections? ([\d.]+(?: and [\d.]+)*)/g },
  { page: 'src/INTERFACE.md', cited: /interface sections? ([\d.]+(?: and [\d.]+)*)/g },
])('every section of $page that a comment cites exists', ({ page, cited }) => {
  const headings = [...pageAt(page).matchAll(/^#+ (\d[\d.]*?)\.? /gm)].map(([, number = '']) => number)
  const numbers = SOURCES.flatMap((path) =>
    // A comment may wrap within a citation.
    [
      ...pageAt(path)
        .replaceAll(/\n \* /g, ' ')
        .matchAll(cited),
    ].flatMap(([, list = '']) => list.split(' and ')),
  )
  const wanted = new Set(numbers.map((number) => number.replace(/\.$/, '')))
  expect(wanted.size).toBeGreaterThan(3)
  expect([...wanted].filter((number) => !headings.includes(number))).toEqual([])
})
