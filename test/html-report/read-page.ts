import { inflateRawSync } from 'node:zlib'
import type { ActivityData } from '../../src/html-report/page-data.ts'

/** The rows of a table in a report page by its caption: the exact texts of their cells. */
export const tableOf = (page: string, caption: string): string[][] => rowsOf(partOf(page, caption, 'tbody'))

/** The headers of a table, and the cells of its line of totals. */
export const headersOf = (page: string, caption: string): string[] =>
  rowsOf(partOf(page, caption, 'thead'))[0] ?? []
export const totalsOf = (page: string, caption: string): string[] =>
  rowsOf(partOf(page, caption, 'tfoot'))[0] ?? []

/** A column of a table by its header, by the text of the first cell. */
export function columnOf(page: string, caption: string, header: string): Map<string, string> {
  const at = headersOf(page, caption).indexOf(header)
  return new Map(tableOf(page, caption).map((cells) => [cells[0] ?? '', cells[at] ?? '']))
}

function partOf(page: string, caption: string, part: 'thead' | 'tbody' | 'tfoot'): string {
  const at = [...page.matchAll(/<caption><span[^>]*>([^<]*)<\/span>/g)].find(
    ([, text]) => text === caption,
  )?.index
  const [table = ''] = at === undefined ? [] : page.slice(at).split('</table>')
  return table.split(`<${part}>`)[1]?.split(`</${part}>`)[0] ?? ''
}

const rowsOf = (part: string): string[][] =>
  part
    .split('<tr>')
    .slice(1)
    .map((row) =>
      row
        .split(/<t[hd]/)
        .slice(1)
        .map(cellText),
    )

/** The exact text of a cell: that of its CSV. */
function cellText(cell: string): string {
  const exact = /^[^>]* data-v="([^"]*)"/.exec(cell)?.[1]
  return unescapeHtml(
    exact ??
      cell
        .replace(/^[^>]*>/, '')
        .replace(/<[^>]*>/g, '')
        .trim(),
  )
}

const unescapeHtml = (text: string) =>
  text.replace(
    /&(lt|gt|quot|#39|amp);/g,
    (_, name: string) => ({ lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' })[name] ?? '',
  )

/** The text of a part of a page, without tags. */
export const textOf = (html: string): string =>
  unescapeHtml(html.replace(/<(script|style)[\s\S]*?<\/\1>/g, '').replace(/<[^>]*>/g, ''))

export const sectionOf = (page: string, id: string): string =>
  page.split(`<section id="${id}"`)[1]?.split('</section>')[0] ?? ''

/** The transactions that the page's script lists. */
export function activityIn(page: string): ActivityData {
  const packed = /id="activity-data">([^<]*)</.exec(page)?.[1] ?? ''
  return JSON.parse(inflateRawSync(Buffer.from(packed, 'base64')).toString()) as ActivityData
}
