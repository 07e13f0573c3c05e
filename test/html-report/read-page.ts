/** Returns the rows of the table with this caption, each as the texts of its cells, with exact amounts. */
export function tableOf(page: string, caption: string): string[][] {
  const [, after = ''] = page.split(`<caption>${caption}</caption>`)
  const body = after.split('</table>')[0]?.split('<tbody>')[1] ?? ''
  return body
    .split('<tr>')
    .slice(1)
    .map((row) =>
      row
        .split(/<t[hd]/)
        .slice(1)
        .map(cellText),
    )
}

/** Returns the text of a cell without thin spaces. Of an amount, it returns the exact value in the `title`. */
export function cellText(cell: string): string {
  const exact = /<span class="amount" title="([^"]*)"/.exec(cell)?.[1]
  return (
    exact ??
    cell
      .replace(/^[^>]*>/, '')
      .replace(/<[^>]*>/g, '')
      .replaceAll('\u2009', '')
      .trim()
  )
}
