/** The rows of the table under a caption, each as the exact texts of its cells. */
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

/** An amount stands whole in its title. */
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
