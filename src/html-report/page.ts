import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ExportError } from '../core/model/errors.ts'
import { PACKAGE } from '../core/model/version.ts'
import { type Html, html } from './html.ts'
import type { PageModel } from './page-model.ts'
import { limitsSection } from './sections/limits.ts'
import { STYLE } from './style.ts'

/**
 * The page of one export or of several: one file that asks nobody for anything. Its policy allows this script and this style
 * alone, by their hashes; strangers' text is text.
 */
export function renderPage(articles: readonly [PageModel, ...PageModel[]], title: string): string {
  const script = readScript()
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hashOf(script)}'`,
    // Pictures and rows are placed by the script, which the policy counts as style of elements.
    `style-src 'sha256-${hashOf(STYLE)}'`,
    "base-uri 'none'; form-action 'none'",
  ].join('; ')
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">${html`<title>${title}</title>`.text}
<style>${STYLE}</style></head>
<body>
${articles.length > 1 ? tableOfContents(articles, title).text : ''}<main>
${articles.map(renderBody).join('')}${limitsSection(articles.flatMap(({ limits }) => limits)).text}</main>
${articles.map(({ renderData }, at) => renderData(at)).join('')}<script>${script}</script></body></html>
`
}

function tableOfContents(articles: readonly PageModel[], title: string): Html {
  const lines = articles.map(
    ({ title: name, chain, summary }, at) =>
      html`<li><a href="#export-${at}"><bdi>${name}</bdi></a>: chain ${chain}, ${summary}</li>`,
  )
  return html`<nav aria-label="Exports"><p class="facts">${title}: ${articles.length} exports</p><ul>${lines}</ul></nav>\n`
}

/** Ids of sections are told apart where there are several exports. */
function renderBody({ renderSections }: PageModel, at: number): string {
  const text = renderSections(at)
    .map((section) => section.text)
    .join('\n')
  const body = at === 0 ? text : withUniqueIds(text, at)
  return `<article id="export-${at}">${body}</article>\n`
}

/** Ids and names of regions, which may stand once in a page. */
const withUniqueIds = (text: string, at: number) =>
  text
    .replace(/(<section id="|href="#)([a-z]+")/g, `$1${at}-$2`)
    .replace(/(role="(?:region|grid)" aria-label="[^"]*)/g, `$1, export ${at + 1}`)

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64')

/** The page's script, which the build makes of `page/`. */
function readScript(): string {
  try {
    return readFileSync(new URL('dist/report-page.js', PACKAGE), 'utf8').trim()
  } catch (cause) {
    throw new ExportError('BUG', 'the script of the page is missing', { cause })
  }
}
