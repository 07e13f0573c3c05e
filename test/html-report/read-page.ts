/** Returns the rows of the table with this caption, each as the texts of its cells, with exact amounts. */
export function tableOf(page: string, caption: string): string[][] {
  return rowsOf(partOf(page, caption, 'tbody'))
}

/** Returns the cells of the line with the totals of the table with this caption. */
export function totalsOf(page: string, caption: string): string[] {
  return rowsOf(partOf(page, caption, 'tfoot'))[0] ?? []
}

/** Returns the captions, headers, rows and totals of all tables that have totals. */
export function tablesWithTotals(page: string) {
  const captions = [...page.matchAll(/<caption>(.*?)<\/caption>/g)].map(([, caption = '']) => caption)
  return captions.flatMap((caption) => {
    const totals = totalsOf(page, caption)
    if (totals.length === 0) return []
    return [
      {
        caption,
        headers: rowsOf(partOf(page, caption, 'thead'))[0] ?? [],
        rows: tableOf(page, caption),
        totals,
      },
    ]
  })
}

function partOf(page: string, caption: string, part: 'thead' | 'tbody' | 'tfoot'): string {
  const [, after = ''] = page.split(`<caption>${caption}</caption>`)
  const [table = ''] = after.split('</table>')
  return table.split(`<${part}>`)[1]?.split(`</${part}>`)[0] ?? ''
}

function rowsOf(part: string): string[][] {
  return part
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
      .replaceAll('\u202f', '')
      .trim()
  )
}
