import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ExportError } from '../core/model/errors.ts'
import { PACKAGE } from '../core/model/version.ts'
import { type Html, html } from './html.ts'
import type { PageModel } from './page-model.ts'
import { limitsSection } from './sections/limits.ts'
import { STYLE } from './style.ts'

/**
 * Renders the page of one or more exports: one self-contained file that makes no network requests. Its
 * Content-Security-Policy allows only the embedded script and style, by hash. Untrusted text is escaped.
 */
export function renderPage(models: readonly [PageModel, ...PageModel[]], title: string): string {
  const script = readScript()
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hashOf(script)}'`,
    // The script positions rows through `element.style`, which `style-src` does not restrict; style attributes are
    // blocked.
    `style-src 'sha256-${hashOf(STYLE)}'`,
    "base-uri 'none'; form-action 'none'",
  ].join('; ')
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">${html`<title>${title}</title>`.text}
<style>${STYLE}</style></head>
<body>
${models.length > 1 ? tableOfContents(models, title).text : ''}<main>
${models.map(renderBody).join('')}${limitsSection(models.flatMap(({ limits }) => limits)).text}</main>
${models.map(({ renderData }, at) => renderData(at)).join('')}<script>${script}</script></body></html>
`
}

function tableOfContents(models: readonly PageModel[], title: string): Html {
  const lines = models.map(
    ({ title: name, chain, summary }, at) =>
      html`<li><a href="#export-${at}"><bdi>${name}</bdi></a>: chain ${chain}, ${summary}</li>`,
  )
  return html`<nav aria-label="Exports"><p class="subtitle">${title}: ${models.length} exports</p><ul>${lines}</ul></nav>\n`
}

/** From the second export on, ids get a prefix, because ids must be unique in a page. */
function renderBody({ renderSections }: PageModel, at: number): string {
  const [summary = '', ...sections] = renderSections(at).map((section) => section.text)
  const text = [summary, contentsOf(sections).text, ...sections].join('\n')
  const body = at === 0 ? text : withUniqueIds(text, at)
  return `<article id="export-${at}">${body}</article>\n`
}

const HEADING = /^<section (?:[^>]* )?id="([a-z]+)"[^>]*><h2>([^<]*)<\/h2>/

/** Links to the sections of an export. */
function contentsOf(sections: readonly string[]): Html {
  const links = sections.flatMap((text) => {
    const [, id, heading] = HEADING.exec(text) ?? []
    return id === undefined ? [] : html`<li><a href="#${id}">${heading}</a></li>`
  })
  return html`<nav class="contents" aria-label="Sections"><ul>${links}</ul></nav>`
}

/** Makes the ids of sections and their parts, the links to them and the names of regions unique. */
const withUniqueIds = (text: string, at: number) =>
  text
    .replace(/(<(?:section|div) (?:[^>]* )?id="|href="#)([a-z]+")/g, `$1${at}-$2`)
    .replace(/((?:role="(?:region|grid)"|<nav class="contents") aria-label="[^"]*)/g, `$1, export ${at + 1}`)

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64')

/** Reads the page's script, which the build bundles from `page/`. */
function readScript(): string {
  try {
    return readFileSync(new URL('dist/report-page.js', PACKAGE), 'utf8').trim()
  } catch (cause) {
    throw new ExportError('BUG', 'the script of the report page is missing: dist/report-page.js', { cause })
  }
}
