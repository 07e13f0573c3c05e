import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ExportError } from '../core/model/errors.ts'
import { PACKAGE } from '../core/model/version.ts'
import { type Html, html, jsonForHtml } from './html.ts'
import { activitySection } from './sections/activity.ts'
import { collectionSection, limitsSection, overviewSection } from './sections/collection.ts'
import { balancesSection, feesSection, nftsSection, partiesSection } from './sections/details.ts'
import { headSection } from './sections/head.ts'
import { holdingsSection } from './sections/holdings.ts'
import { worthSection } from './sections/worth.ts'
import { yearsSection } from './sections/years.ts'
import { STYLE } from './style.ts'
import { chainName, type PortfolioView, type View } from './view.ts'

/** The sections about exports with a ledger, in the order of the page. */
const PORTFOLIO_SECTIONS: readonly ((view: PortfolioView) => Html)[] = [
  worthSection,
  holdingsSection,
  activitySection,
  yearsSection,
  balancesSection,
  partiesSection,
  nftsSection,
  feesSection,
]

/**
 * Renders the page: one self-contained file that makes no network requests. Its Content-Security-Policy allows only the
 * embedded script and style, by hash. Untrusted text is escaped.
 */
export function renderPage(view: View): string {
  const script = readScript()
  const { text, title, portfolio } = view
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hashOf(script)}'`,
    `style-src 'sha256-${hashOf(STYLE)}'`,
    "base-uri 'none'; form-action 'none'",
  ].join('; ')
  const sections = [
    ...(portfolio === undefined ? [] : PORTFOLIO_SECTIONS.map((render) => render({ ...view, portfolio }))),
    ...[overviewSection, collectionSection, limitsSection].map((render) => render(view)),
  ]
  return `<!doctype html>
<html lang="${text.messages.language}"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer">${html`<title>${title}</title>`.text}
<style>${STYLE}</style></head>
<body>
${contentsOf(view, sections).text}<main>
${headSection(view).text}
${sections.map((section) => section.text).join('\n')}</main>
${dataOf(view)}<script>${script}</script></body></html>
`
}

const HEADING = /^<section (?:[^>]* )?id="([a-z]+)"[^>]*><h2>([^<]*)<\/h2>/

/** Links to the sections, and the switch of the links to explorers. */
function contentsOf({ text, hasLinks }: View, sections: readonly Html[]): Html {
  const links = sections.flatMap((section) => {
    const [, id, heading] = HEADING.exec(section.text) ?? []
    return id === undefined ? [] : html`<li><a href="#${id}">${heading}</a></li>`
  })
  const { contents, links: explorers } = text.messages
  return html`<nav aria-label="${contents}"><ul>${links}</ul>${hasLinks ? html`<label class="switch"><input type="checkbox" data-do="links" checked> ${explorers}</label>` : ''}</nav>`
}

/** The data for the page's script. */
function dataOf({ text, portfolio, nameOf, explorerOf }: View): string {
  const { activity, table, separators, locale, units } = text.messages
  const messages = jsonForHtml({ activity, table, separators, locale, units })
  const packed = portfolio?.activity.pack({
    nameOf,
    chainOf: (chain) => ({ name: chainName(chain), explorer: explorerOf(chain) }),
    currency: portfolio.prices?.currency ?? '',
  })
  return (
    `<script type="application/json" id="messages">${messages}</script>\n` +
    (packed === undefined
      ? ''
      : `<script type="application/octet-stream" id="activity-data">${packed}</script>\n`)
  )
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64')

/** Reads the page's script, which the build bundles from `page/`. */
function readScript(): string {
  try {
    return readFileSync(new URL('dist/report-page.js', PACKAGE), 'utf8').trim()
  } catch (cause) {
    throw new ExportError('BUG', 'the script of the report page is missing: dist/report-page.js', { cause })
  }
}
