import { type Html, html } from '../html.ts'

/** A figure, what it counts, and an additional remark. */
export type Tile = readonly [figure: Html, name: string, more: Html]

export function tilesHtml(tiles: readonly Tile[]): Html {
  return html`<ul class="tiles">${tiles.map(([figure, name, more]) => html`<li><b>${figure}</b><span>${name}</span><small>${more}</small></li>`)}</ul>`
}
