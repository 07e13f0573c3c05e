import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ExportError } from '../core/errors.ts'
import { PACKAGE } from '../core/version.ts'
import type { Figures } from './figures.ts'
import { type Html, html } from './html.ts'
import { assetsSection } from './sections/assets.ts'
import { balancesSection } from './sections/balances.ts'
import { comparedOf, compareSection } from './sections/compare.ts'
import { headSection } from './sections/head.ts'
import { nftsSection } from './sections/nfts.ts'
import { partiesSection } from './sections/parties.ts'
import { feesSection, limitsSection, readingSection } from './sections/reading.ts'
import { rowsSection } from './sections/rows.ts'
import { timeSection } from './sections/time.ts'
import { walletsSection } from './sections/wallets.ts'
import { STYLE } from './style.ts'

/** An export on a page, and what it is called there. */
export type Shown = { title: string; figures: Figures }

/**
 * The page of one export or of several: one file that asks nobody for anything. Its policy allows this script and this style
 * alone, by their hashes; strangers' text is text.
 */
export function pageOf(shown: readonly [Shown, ...Shown[]], title: string): string {
  const script = readScript()
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hashOf(script)}'`,
    // Pictures and rows are placed by the script, which the policy counts as style of elements.
    `style-src 'sha256-${hashOf(STYLE)}'`,
    "base-uri 'none'; form-action 'none'",
  ].join('; ')
  const packed = shown.map(
    ({ figures }, at) =>
      `<script type="application/octet-stream" id="rows-${at}">${figures.rows.packed}</script>\n` +
      `<script type="application/json" id="compare-${at}">${jsonInHtml(comparedOf(figures))}</script>\n`,
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">${html`<title>${title}</title>`.text}
<style>${STYLE}</style></head>
<body>
${shown.length > 1 ? contents(shown, title).text : ''}<main>
${shown.map(bodyOf).join('')}${limitsSection({ hasPrices: shown.some(({ figures }) => figures.worths !== undefined) }).text}</main>
${packed.join('')}<script>${script}</script></body></html>
`
}

function contents(shown: readonly Shown[], title: string): Html {
  const lines = shown.map(({ title: name, figures }, at) => {
    const { transactions, movements } = figures.tally
    return html`<li><a href="#export-${at}"><bdi>${name}</bdi></a>: chain ${figures.manifest.job.chain}, ${transactions} transactions, ${movements} movements</li>`
  })
  return html`<nav aria-label="Exports"><p class="facts">${title}: ${shown.length} exports</p><ul>${lines}</ul></nav>\n`
}

/** Ids of sections are told apart where there are several exports. */
function bodyOf({ title, figures }: Shown, at: number): string {
  const sections = [
    ...[headSection(figures, title), timeSection(figures), walletsSection(figures), balancesSection(figures)],
    compareSection(figures, at),
    ...[assetsSection(figures), partiesSection(figures), nftsSection(figures), feesSection(figures)],
    ...[readingSection(figures), rowsSection(figures, at)],
  ]
  const text = sections.map((section) => section.text).join('\n')
  const own = at === 0 ? text : toldApart(text, at)
  return `<article id="export-${at}">${own}</article>\n`
}

/** Ids and names of regions, which may stand once in a page. */
const toldApart = (text: string, at: number) =>
  text
    .replace(/(<section id="|href="#)([a-z]+")/g, `$1${at}-$2`)
    .replace(/(role="(?:region|table)" aria-label="[^"]*)/g, `$1, export ${at + 1}`)

/** JSON that ends no script, whatever strangers wrote. */
const jsonInHtml = (value: unknown) =>
  JSON.stringify(value).replace(
    /[<\u2028\u2029]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64')

/** The page's script, which the build makes of `page/`. */
function readScript(): string {
  try {
    return readFileSync(new URL('dist/report-page.js', PACKAGE), 'utf8').trim()
  } catch (cause) {
    throw new ExportError('BUG', 'the script of the page is missing', { cause })
  }
}
